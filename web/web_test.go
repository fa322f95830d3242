package web

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFileThatIsNotThereIsAProblemLikeAnyOther(t *testing.T) {
	files := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/static/there" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("found"))
	})
	h := handler(t, Config{Handlers: map[string]http.Handler{"/static/*file": files}})
	w := ask(t, h, "GET", "/static/missing")
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
	require.Contains(t, w.Body.String(), `"code":"not_found"`)
	require.NotContains(t, w.Body.String(), "page not found")
	w = ask(t, h, "GET", "/static/there")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "found", w.Body.String())
}
