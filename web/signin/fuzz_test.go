package signin

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// The address after signing in is always a support page on this site, as every browser reads it.
func FuzzNext(f *testing.F) {
	for _, seed := range []string{"", "/support", "/support/integration?q=a", "//evil.example",
		"//evil.example/support", "/rooms/integration", "/supportive", `/\evil.example`, "/support/../rooms/x",
		"/support/%2e%2e/x", "https://evil.example/support",
		"/support\n//evil.example", "/support/sign-out", "/support#//x", "/support?next=//evil.example",
		"/support/%252e%252e", "/support/;/..", "javascript:alert(1)"} {
		f.Add(seed)
	}
	base, err := url.Parse("https://wait.example/support/sign-in")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, next string) {
		to := SafeNext(next)
		require.Contains(t, []string{next, "/support"}, to)
		require.Equal(t, to, SafeNext(to))
		there, err := base.Parse(to)
		require.NoError(t, err)
		require.Equal(t, "https://wait.example", there.Scheme+"://"+there.Host)
		require.True(t, there.Path == "/support" || strings.HasPrefix(there.Path, "/support/"), to)
		require.False(t, strings.ContainsAny(to, "\\ \t\r\n\x00"))
		require.NotContains(t, there.Path, "sign-out/")
		require.NotEqual(t, "/support/sign-out", there.Path)
	})
}

// Only whole texts of the provider's claim are groups, and an unset group admits no person.
func FuzzGroups(f *testing.F) {
	for _, seed := range []string{"null", `"leads"`, `["leads","IT Support"]`,
		`[1,null,{"a":"leads"},["leads"]]`, "{}", "1", `[""]`, "", `["leads"] x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, claim []byte) {
		var g groups
		if json.Unmarshal(claim, &g) != nil {
			require.False(t, g.has("leads"))
			return
		}
		require.False(t, g.has(""))
		for _, name := range g {
			text, err := json.Marshal(name)
			require.NoError(t, err)
			var one, anew groups
			require.NoError(t, json.Unmarshal(text, &one))
			require.Equal(t, groups{name}, one)
			require.NoError(t, json.Unmarshal([]byte("["+string(text)+"]"), &anew))
			require.Equal(t, one, anew)
		}
	})
}

// A name that a provider gives is one short line that can be seen.
func FuzzName(f *testing.F) {
	for _, seed := range []string{"", "kim", " kim\n", "\u202ekim", "\x00", strings.Repeat("가", 500), "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name := clean(text)
		require.Equal(t, name, clean(name))
		require.LessOrEqual(t, len([]rune(name)), longestName)
		require.False(t, strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }))
	})
}
