package templates_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
)

func TestPushHasThePagesTextAndLeavesTheTimeToTheBrowser(t *testing.T) {
	for _, lang := range templates.Languages() {
		turn, turnPlain := templates.PushWords(lang, true, false, "", "integration")
		claim, claimPlain := templates.PushWords(lang, true, true, "스마트 공방", "integration")
		away, awayPlain := templates.PushWords(lang, false, false, "", "integration")
		require.Equal(t, templates.TextIn(lang).Live.NotifyTurn.Title, turn.Title,
			"the one replaces the other without a sound")
		require.Equal(t, turn.Title, claim.Title)
		require.Contains(t, claim.Lead, templates.TextIn(lang).Page.Here)
		require.Contains(t, claim.Lead, "스마트 공방")
		require.NotContains(t, claim.Lead, "integration")
		for _, n := range []templates.Notice{turn, claim, away} {
			require.Equal(t, 1, strings.Count(n.Lead, "{"), n.Lead)
			require.Contains(t, n.Lead, "{time}")
		}
		require.NotEqual(t, turn.Title, away.Title)
		for plain, name := range map[string]string{turnPlain: "integration", claimPlain: "스마트 공방",
			awayPlain: "integration"} {
			require.Regexp(t, "^"+name+": [^{]+$", plain, "no service worker puts the time in")
		}
	}
}
