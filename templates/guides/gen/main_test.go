package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuidesOfTheDeskAreThoseOfThePages(t *testing.T) {
	require.Len(t, guides, 2)
	for page, target := range guides {
		source, err := os.ReadFile("../../../" + page)
		require.NoError(t, err)
		want, err := render(source)
		require.NoError(t, err)
		have, err := os.ReadFile("../../../" + target)
		require.NoError(t, err)
		require.Equal(t, string(want), string(have), "%s: run make generate", target)
	}
}

func TestLinksOfAGuideLeadToWhatTheServerHas(t *testing.T) {
	html, err := render([]byte("<!-- docs/support.md 0123456789ab -->\n\n# 안내\n\n[나](#왜-주인이-없나요) [API](../api.md#support) " +
		"[**다른** 문서](../rooms.md) [밖](https://a.example/b)\n\n## 왜 주인이 없나요?\n\n| a |\n| --- |\n| <script> |\n"))
	require.NoError(t, err)
	require.NotContains(t, string(html), "docs/support.md")
	require.Contains(t, string(html), `<h2 id="왜-주인이-없나요">`)
	require.Contains(t, string(html), "<strong>다른</strong> 문서")
	require.Contains(t, string(html), `<table class="desk-table" tabindex="0">`)
	require.NotContains(t, string(html), "<script>", "a page brings no HTML of its own")
	require.Equal(t, [][]string{{`href="#%EC%99%9C-%EC%A3%BC%EC%9D%B8%EC%9D%B4-%EC%97%86%EB%82%98%EC%9A%94"`}, {`href="/docs"`},
		{`href="https://a.example/b"`}}, regexp.MustCompile(`href="[^"]*"`).FindAllStringSubmatch(string(html), -1))
}
