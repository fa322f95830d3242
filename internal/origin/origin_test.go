package origin

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOriginIsComparedBySchemeHostAndPort(t *testing.T) {
	for text, plain := range map[string]string{
		"https://wait.example": "https://wait.example", "HTTPS://Wait.Example.:443": "https://wait.example",
		"http://wait.example:80":  "http://wait.example",
		"https://wait.example:80": "https://wait.example:80", "http://[::1]:8080": "http://[::1]:8080",
		"http://127.0.0.1:1": "http://127.0.0.1:1",
		"":                   "", "null": "", "wait.example": "", "//wait.example": "", "https://": "",
		"https://a@wait.example": "", "https://wait.example/": "", "https://wait.example?": "",
		"https://wait.example#": "", "https://wait.example/a": "", "ftp://wait.example": "",
		" https://wait.example": "", "https://wait.example, https://wait.example": "",
	} {
		require.Equal(t, plain, Plain(text), text)
	}
}

func TestTextsThatAreNoOriginAreNotTrusted(t *testing.T) {
	for _, text := range []string{"portal.example", "https://portal.example/", "null"} {
		_, err := New("", []string{text})
		require.ErrorContains(t, err, text)
		_, err = New(text, nil)
		require.ErrorContains(t, err, text)
	}
}

// An accepted origin is one that a browser could have written, and stays itself.
func FuzzOrigin(f *testing.F) {
	for _, seed := range []string{"https://wait.example", "http://a@b", "https://[::1]:443", "https://x:",
		"HTTP://X.:80", "https://%41", "http://x\\@y", "null"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := Plain(text)
		if plain == "" {
			return
		}
		u, err := url.Parse(text)
		require.NoError(t, err)
		require.Nil(t, u.User)
		require.Empty(t, u.Path+u.RawQuery+u.Fragment)
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
		r.Host = u.Host
		r.Header["Origin"] = []string{text}
		require.True(t, Sites{}.Own(r))
		r.Header["Origin"] = []string{text, text}
		require.False(t, Sites{}.Own(r))
	})
}
