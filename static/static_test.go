package static_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/static"
)

func TestOnlyTheCurrentVersionIsKeptForEver(t *testing.T) {
	for path, cache := range map[string]string{
		static.Prefix() + "/bundle/room.js":    "public, max-age=31536000, immutable",
		"/static/v-000000000000/js/room.js":    "no-cache",
		"/static/js/room.js":                   "no-cache",
		static.Prefix() + "/icons/waiting.svg": "public, max-age=31536000, immutable",
		"/static/embed.js":                     "public, max-age=300",
		static.Prefix() + "/embed.js":          "public, max-age=31536000, immutable",
	} {
		answer := get(path, nil)
		require.Equal(t, http.StatusOK, answer.Code, path)
		require.Equal(t, cache, answer.Header().Get("Cache-Control"), path)
		require.Equal(t, "nosniff", answer.Header().Get("X-Content-Type-Options"), path)
	}
}

// A page of another version may lack elements that this version's script needs.
func TestScriptOfAnotherVersionsPageLoadsThePageAgain(t *testing.T) {
	for _, script := range []string{"room.js", "desk/room.js", "of-a-later-version.js"} {
		answer := get("/static/v-000000000000/bundle/"+script, http.Header{"Accept-Encoding": {"br"}})
		require.Equal(t, http.StatusOK, answer.Code, script)
		require.Equal(t, "no-store", answer.Header().Get("Cache-Control"), script)
		require.Equal(t, "text/javascript; charset=utf-8", answer.Header().Get("Content-Type"), script)
		require.Contains(t, answer.Body.String(), "location.reload()", script)
	}
	for _, whole := range []string{
		static.Prefix() + "/bundle/room.js", "/static/bundle/room.js", "/static/v-000000000000/bundle/seller.css",
	} {
		require.NotContains(t, get(whole, nil).Body.String()[:100], "location.reload()", whole)
	}
}

func TestFilesHaveTheTypesBrowsersInsistOn(t *testing.T) {
	for path, kind := range map[string]string{
		"/static/js/room.js":                     "text/javascript; charset=utf-8",
		"/static/bundle/room.js":                 "text/javascript; charset=utf-8",
		"/static/bundle/room.js.map":             "application/json",
		"/static/bundle/seller.css":              "text/css; charset=utf-8",
		"/static/css/base.css":                   "text/css; charset=utf-8",
		"/static/icons/waiting.svg":              "image/svg+xml",
		"/static/icons/turn-192.png":             "image/png",
		"/static/icons/app.webmanifest":          "application/manifest+json",
		"/static/thirdparty/uplot/uPlot.esm.js":  "text/javascript; charset=utf-8",
		"/static/thirdparty/uplot/uPlot.min.css": "text/css; charset=utf-8",
		"/static/thirdparty/uplot/LICENSE":       "text/plain; charset=utf-8",
	} {
		require.Equal(t, kind, get(path, nil).Header().Get("Content-Type"), path)
	}
}

// iOS pushes only to a page on the Home Screen whose manifest has display standalone,
// and shows only PNG icons.
func TestManifestMakesAPageOfTheHomeScreen(t *testing.T) {
	var manifest struct {
		Display string
		Icons   []struct{ Src, Sizes, Type string }
	}
	require.NoError(t, json.Unmarshal(get("/static/icons/app.webmanifest", nil).Body.Bytes(), &manifest))
	require.Equal(t, "standalone", manifest.Display)
	require.NotEmpty(t, manifest.Icons)
	for _, icon := range manifest.Icons {
		picture, err := png.DecodeConfig(get("/static/icons/"+icon.Src, nil).Body)
		require.NoError(t, err, icon.Src)
		require.Equal(t, icon.Sizes, fmt.Sprintf("%dx%d", picture.Width, picture.Height))
		require.Equal(t, "image/png", icon.Type)
	}
}

func TestAnUnchangedFileIsNotSentAgain(t *testing.T) {
	tag := get("/static/js/room.js", nil).Header().Get("ETag")
	require.NotEmpty(t, tag)
	require.Equal(t, http.StatusNotModified, get("/static/js/room.js", http.Header{"If-None-Match": {tag}}).Code)
}

func TestAFileIsSentInTheSmallestFormThatTheClientTakes(t *testing.T) {
	const path = "/static/bundle/room.js"
	whole := get(path, nil).Body.String()
	tags := make(map[string]string)
	for asked, coding := range map[string]string{
		"": "", "identity": "", "deflate": "",
		"gzip": "gzip", "gzip, deflate": "gzip", "gzip, deflate, br, zstd": "br",
		"br;q=0, gzip;q=0.5": "gzip", "BR": "br", "br; q=1.0": "br", "br;q=x": "", "gzip;q=0": "",
	} {
		answer := get(path, http.Header{"Accept-Encoding": {asked}, "Range": {"bytes=0-1"}})
		require.Equal(t, http.StatusOK, answer.Code, asked)
		require.Equal(t, coding, answer.Header().Get("Content-Encoding"), asked)
		require.Equal(t, "Accept-Encoding", answer.Header().Get("Vary"), asked)
		require.Equal(t, "text/javascript; charset=utf-8", answer.Header().Get("Content-Type"), asked)
		require.Equal(t, strconv.Itoa(answer.Body.Len()), answer.Header().Get("Content-Length"), asked)
		tags[coding] = answer.Header().Get("ETag")
		require.Equal(t, whole, decoded(t, coding, answer.Body), asked)

		again := get(path, http.Header{"Accept-Encoding": {asked}, "If-None-Match": {tags[coding]}})
		require.Equal(t, http.StatusNotModified, again.Code, asked)
		require.Equal(t, "Accept-Encoding", again.Header().Get("Vary"), asked)
		require.Empty(t, again.Header().Get("Content-Encoding"), asked)
	}
	require.Len(t, tags, 3)
	require.NotEqual(t, tags["br"], tags["gzip"])
	require.NotEqual(t, tags[""], tags["gzip"])
}

// A Range header of 30 KB costs net/http 24 ms.
func TestRangesAreIgnored(t *testing.T) {
	const path = "/static/bundle/room.js"
	whole := get(path, nil)
	many := "bytes=" + strings.Repeat("0-0,", 7000) + "1-1"
	for _, ranges := range []string{many, "bytes=0-1", "bytes=99999999-"} {
		answer := get(path, http.Header{"Range": {ranges}})
		require.Equal(t, http.StatusOK, answer.Code)
		require.Equal(t, whole.Body.Len(), answer.Body.Len())
	}
}

func decoded(t *testing.T, coding string, body io.Reader) string {
	t.Helper()
	switch coding {
	case "br":
		body = brotli.NewReader(body)
	case "gzip":
		unzipped, err := gzip.NewReader(body)
		require.NoError(t, err)
		body = unzipped
	}
	content, err := io.ReadAll(body)
	require.NoError(t, err)
	return string(content)
}

func TestTheModuleIsOneFileAtAnAddressThatStays(t *testing.T) {
	module := get("/static/embed.js", nil)
	require.NotRegexp(t, `(?m)^import |from *"`, module.Body.String())
	require.Regexp(t, `as WaitingRoom\b`, module.Body.String())
	require.Equal(t, http.StatusOK, get(module.Header().Get("SourceMap"), nil).Code)
	source := get(static.Prefix()+"/embed.js", nil).Body.String()
	require.Contains(t, source, "export class WaitingRoom", "unbundled, for the source map")
}

func TestNothingButFilesIsServed(t *testing.T) {
	for _, path := range []string{
		"/static/", "/static/js", "/static/js/", "/static/bundle", "/static/bundle/room.js.br",
		"/static/static.go", "/static/../static.go", "/static/v-1",
	} {
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
