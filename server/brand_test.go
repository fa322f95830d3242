package server

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// brandFiles returns the addresses of a page's brand: the style sheet, then the logo.
func brandFiles(page reply) []string {
	return regexp.MustCompile(`/rooms/[^"]*/brand/[0-9a-f]{16}/[a-z]+`).FindAllString(page.body, -1)
}

func TestPagesHaveTheBrandOfTheirRoom(t *testing.T) {
	l := startLibrary(t, "shop:*: {name: 가게}\n")
	s := newReader(t, l.URL())
	require.Empty(t, brandFiles(s.ask("GET", "/rooms/shop:a", "")))

	const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 28"/>`
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(l.path), "logo.svg"), []byte(logo), 0o600))
	l.reads("shop:*:\n  brand: {name: {ko: 가나, en: Acme}, logo: logo.svg, colour: \"#6b3fa0\"}\n")
	page := s.ask("GET", "/rooms/shop:a", "")
	files := brandFiles(page)
	require.Len(t, files, 2)
	require.Contains(t, page.body, `<title>가나</title>`)
	require.Contains(t, page.body, `width="120" height="28" alt="가나"`)
	require.Contains(t, s.ask("GET", "/rooms/shop:a?lang=en", "").body, `alt="Acme"`)

	style, image := s.ask("GET", files[0], ""), s.ask("GET", files[1], "")
	require.Contains(t, style.body, "--accent:#6b3fa0")
	require.Equal(t, "text/css; charset=utf-8", style.Header.Get("Content-Type"))
	require.Equal(t, logo, image.body)
	require.Equal(t, "image/svg+xml", image.Header.Get("Content-Type"))
	require.Contains(t, image.Header.Get("Content-Security-Policy"), "sandbox", "it may be opened as a page")
	for _, got := range []reply{style, image} {
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Equal(t, "public, max-age=31536000, immutable", got.Header.Get("Cache-Control"))
		require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
		require.Contains(t, got.Header.Get("Content-Security-Policy"), "default-src 'none'")
		require.Contains(t, got.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
	}

	s.submit("/rooms/shop:a/join", "seller_id", "s")
	made := s.submit("/rooms/shop:a/link")
	link := regexp.MustCompile(`/rooms/shop:a/link/[^"]+`).FindString(made.body)
	for _, page := range []reply{made, newReader(t, l.URL()).ask("GET", link, ""),
		s.ask("GET", "/rooms/shop:a/what", ""), s.ask("GET", "/rooms/shop:a/link/none", "")} {
		require.Equal(t, files, brandFiles(page), page.Request.URL)
		require.Regexp(t, ` · (Acme|가나)</title>`, page.body)
	}
	for _, path := range []string{"/rooms/integration", "/rooms/integration/what", "/rooms/nowhere", "/support/sign-in"} {
		require.Empty(t, brandFiles(s.ask("GET", path, "")), path)
	}

	l.reads("shop:*:\n  brand: {name: Acme, colour: \"#1b64da\"}\n")
	other := s.ask("GET", files[0], "")
	require.Contains(t, other.body, "--accent:#1b64da", "a page of another replica gets this one's")
	require.Equal(t, "no-store", other.Header.Get("Cache-Control"))
	for _, path := range []string{files[1], "/rooms/shop:a/brand/x/else", "/rooms/integration/brand/x/style"} {
		require.Equal(t, http.StatusNotFound, s.ask("GET", path, "").StatusCode, path)
	}
	l.reads("shop:*:\n  brand: {name: Acme, colour: \"#fee500\"}\n")
	require.Contains(t, s.ask("GET", files[0], "").body, "--accent:#1b64da", "a refused colour changes nothing")
	require.Contains(t, l.log.String(), `:2: shop:*: brand.colour is \"#fee500\": its contrast with white is 1.2:1`)
}
