package signin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNextIsAPageOfSupportsOrSupport(t *testing.T) {
	for _, next := range []string{"/support", "/support?q=a", "/support/integration",
		"/support/stock:item/history?seller=s-1&from=2026-01-02T03:04:05Z",
		"/support/-/audit", "/support/-/sellers/%ED%8C%90%EB%A7%A4%EC%9E%90?room=integration",
		"/support/-/sellers/a@b.example", "/support/sign-in-room"} {
		require.Equal(t, next, SafeNext(next))
	}
	for _, next := range []string{"", "/", "support", "/supportive", "/rooms/integration", "/support/",
		"/support/../rooms/x", "/support/%2e%2e/rooms/x",
		"/support/.%2e/x", "/support/./x", "//evil.example", "//evil.example/support", "/support//evil.example",
		"/support/%2f/x", "///support",
		`\\evil.example`, `/\evil.example`, `/support\..\x`, "/support/%5c..%5cx", "/support/%252e%252e/x",
		"https://evil.example/support",
		"http:/support", "javascript:alert(1)", "data:text/html,x", "/support/\nx", "/\t/evil.example",
		"/support/%0d%0aset-cookie:x", "/support/a b",
		"/support/%zz", "/support/판매자", " /support", "/support?next=https://evil.example", "@evil.example/support",
		"/support\x00", "?x", "#x",
		"/support/sign-in", "/support/sign-in?next=/support", "/support/sign-out", "/support/oidc/start",
		"/support/oidc/callback?code=x",
		"/support/" + strings.Repeat("x", 1024)} {
		require.Equal(t, "/support", SafeNext(next), next)
	}
}
