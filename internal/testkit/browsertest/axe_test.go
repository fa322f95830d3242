package browsertest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

const reachable = `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>t</title><main><h1>h</h1>%s</main>`

func TestAxeFindsWhatKeepsPeopleOutUnderAStrictPolicy(t *testing.T) {
	bodies := map[string]string{
		"/good": `<label>Name <input></label><button>Go</button>`,
		"/bad":  `<input><button></button>`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src data:")
		_, _ = fmt.Fprintf(w, reachable, bodies[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	ctx := browsertest.Page(t)

	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(s.URL+"/good")))
	found, err := browsertest.Axe(ctx)
	require.NoError(t, err)
	require.Empty(t, found)

	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(s.URL+"/bad")))
	found, err = browsertest.Axe(ctx)
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Contains(t, fmt.Sprint(found), "critical: button-name: button")
	require.Contains(t, fmt.Sprint(found), "critical: label: input")
	found, err = browsertest.Axe(ctx, "label")
	require.NoError(t, err)
	require.Len(t, found, 1, "of that rule alone")
	require.Empty(t, browsertest.Errors(ctx), "the page's policy is not broken")
}
