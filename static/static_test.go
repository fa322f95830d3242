package static_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/static"
)

func TestOnlyTheCurrentVersionIsKeptForEver(t *testing.T) {
	for path, cache := range map[string]string{
		static.Prefix() + "/js/room.js":        "public, max-age=31536000, immutable",
		"/static/v-000000000000/js/room.js":    "no-cache",
		"/static/js/room.js":                   "no-cache",
		static.Prefix() + "/icons/waiting.svg": "public, max-age=31536000, immutable",
	} {
		answer := get(path, nil)
		require.Equal(t, http.StatusOK, answer.Code, path)
		require.Equal(t, cache, answer.Header().Get("Cache-Control"), path)
		require.Equal(t, "nosniff", answer.Header().Get("X-Content-Type-Options"), path)
	}
}

func TestFilesHaveTheTypesBrowsersInsistOn(t *testing.T) {
	for path, kind := range map[string]string{
		"/static/js/room.js":                     "text/javascript; charset=utf-8",
		"/static/css/base.css":                   "text/css; charset=utf-8",
		"/static/icons/waiting.svg":              "image/svg+xml",
		"/static/thirdparty/uplot/uPlot.esm.js":  "text/javascript; charset=utf-8",
		"/static/thirdparty/uplot/uPlot.min.css": "text/css; charset=utf-8",
		"/static/thirdparty/uplot/LICENSE":       "text/plain; charset=utf-8",
	} {
		require.Equal(t, kind, get(path, nil).Header().Get("Content-Type"), path)
	}
}

func TestAnUnchangedFileIsNotSentAgain(t *testing.T) {
	tag := get("/static/js/room.js", nil).Header().Get("ETag")
	require.NotEmpty(t, tag)
	require.Equal(t, http.StatusNotModified, get("/static/js/room.js", http.Header{"If-None-Match": {tag}}).Code)
}

func TestNothingButFilesIsServed(t *testing.T) {
	for _, path := range []string{"/static/", "/static/js", "/static/js/", "/static/static.go", "/static/../static.go", "/static/v-1"} {
		require.Equal(t, http.StatusNotFound, get(path, nil).Code, path)
	}
	require.True(t, strings.HasPrefix(static.Prefix(), "/static/v-"))
}

// A folder named vendor is left out when a module is downloaded, and the build would miss its files.
func TestNothingEmbeddedIsLeftOutOfADownloadedModule(t *testing.T) {
	require.NoDirExists(t, "vendor")
}

func get(path string, header http.Header) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	for name, values := range header {
		request.Header[name] = values
	}
	answer := httptest.NewRecorder()
	static.Handler().ServeHTTP(answer, request)
	return answer
}
