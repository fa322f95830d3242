package browsertest_test

import (
	"context"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

const page = `<!doctype html><link rel="icon" href="data:,"><p id="cookie">%s</p><p id="language">%s</p>
<script src="/bad.js"></script><p id="inline">untouched</p><script>inline.textContent = "run"</script>`

const badScript = `console.error("said by the page"); console.log("not an error"); undefinedFunction()`

func site(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bad.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(badScript))
			return
		case "/quiet":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<!doctype html><link rel="icon" href="data:,"><p>quiet</p>`))
			return
		}
		had, _ := r.Cookie("seen")
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; img-src data:")
		_, _ = fmt.Fprintf(w, page, had, r.Header.Get("Accept-Language"))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestComplaintsOfThePageAreCollected(t *testing.T) {
	ctx := browsertest.Page(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site(t)+"/quiet")))
	require.Empty(t, browsertest.Errors(ctx))

	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site(t))))
	errors := fmt.Sprint(browsertest.Errors(ctx))
	require.Contains(t, errors, "said by the page")
	require.Contains(t, errors, "undefinedFunction is not defined")
	require.Contains(t, errors, "Content Security Policy")
	require.NotContains(t, errors, "not an error")

	browsertest.AllowErrors(ctx, "said by the page", "undefinedFunction", "Content Security Policy")
	require.Empty(t, browsertest.Errors(ctx))
}

func TestIsolatedSharesNothingAndTabSharesCookies(t *testing.T) {
	ctx, url := browsertest.New(t), site(t)
	browsertest.AllowErrors(ctx, "said by the page", "undefinedFunction", "Content Security Policy")
	require.NotEqual(t, "seen=1", cookie(t, ctx, url))
	require.Equal(t, "seen=1", cookie(t, browsertest.Tab(t, ctx), url))
	require.NotEqual(t, "seen=1", cookie(t, browsertest.Isolated(t, ctx), url))
}

func TestPageBeginsWithoutTheCookiesOfTheOneBefore(t *testing.T) {
	url := site(t)
	for range 2 {
		ctx := browsertest.Page(t)
		browsertest.AllowErrors(ctx, "said by the page", "undefinedFunction", "Content Security Policy")
		require.NotEqual(t, "seen=1", cookie(t, ctx, url))
		require.Equal(t, "seen=1", cookie(t, ctx, url))
	}
}

// cookie returns the cookie that a tab sends to a site.
func cookie(t *testing.T, ctx context.Context, url string) string {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(url)))
	sent, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("#cookie")))
	require.NoError(t, err)
	return sent
}

func TestPageIsAsTheTestWroteIt(t *testing.T) {
	ctx := browsertest.Page(t)
	require.NoError(t, chromedp.Do(ctx,
		browsertest.Language("en"),
		browsertest.Viewport(360, 640, true, true),
		chromedp.Navigate(site(t)+"/quiet"),
	))
	for query, want := range map[string]bool{
		"(width: 360px) and (height: 640px)": true,
		"(prefers-color-scheme: dark)":       true,
		"(prefers-reduced-motion: reduce)":   true,
		"(prefers-color-scheme: light)":      false,
	} {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf("matchMedia(%q).matches", query)))
		require.NoError(t, err)
		require.Equal(t, want, got, query)
	}

	path := filepath.Join(t.TempDir(), "made", "shot.png")
	require.NoError(t, browsertest.Screenshot(ctx, path))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	shot, err := png.DecodeConfig(file)
	require.NoError(t, err)
	require.Equal(t, 360, shot.Width)
	require.Equal(t, 640, shot.Height)
}

func TestPageWithoutScriptAsksInTheLanguage(t *testing.T) {
	ctx := browsertest.Page(t)
	require.NoError(t, chromedp.Do(ctx, browsertest.WithoutScript(), browsertest.Language("ko"),
		chromedp.Navigate(site(t))))
	browsertest.AllowErrors(ctx, "Content Security Policy")
	language, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("#language")))
	require.NoError(t, err)
	require.Equal(t, "ko", language)
	inline, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("#inline")))
	require.NoError(t, err)
	require.Equal(t, "untouched", inline)
}

func TestPollWorksUnderAStrictPolicy(t *testing.T) {
	ctx := browsertest.Page(t)
	browsertest.AllowErrors(ctx, "said by the page", "undefinedFunction", "Content Security Policy")
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site(t))))
	text, err := chromedp.Run(ctx, chromedp.Poll[string](`document.querySelector("#inline").textContent`))
	require.NoError(t, err)
	require.Equal(t, "untouched", text)
}
