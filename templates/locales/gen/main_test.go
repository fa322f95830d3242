package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates/locales"
)

func TestTypesAreThoseOfTheCatalogue(t *testing.T) {
	catalogue, err := locales.Read()
	require.NoError(t, err)
	want, err := generate(catalogue)
	require.NoError(t, err)
	have, err := os.ReadFile("../../../" + types)
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "run make generate")
}

// A translation that was right for the Korean before it changed would go on saying that.
func TestNoTranslationSaysWhatTheKoreanSaidBefore(t *testing.T) {
	catalogue, err := locales.Read()
	require.NoError(t, err)
	record, err := os.ReadFile("../../../" + checkedFile)
	require.NoError(t, err)
	renewed, stale := parseChecked(string(record)).renewed(digests(catalogue), nil)
	require.Empty(t, stale, "change these translations and run make generate; or, where they are right as they "+
		"are, go run ./templates/locales/gen NAME …")
	require.Equal(t, renewed.String(), string(record), "run make generate")
}

func TestTextIsStaleUntilEveryLanguageHasChangedOrAPersonHasComparedIt(t *testing.T) {
	for name, c := range map[string]struct {
		old, now, compared, want string
		stale                    []string
	}{
		"a new text":                     {"", "a 1 1 1 1 1", "", "a 1 1 1 1 1", nil},
		"a text that is gone":            {"a 1 1 1 1 1", "", "", "", nil},
		"another language alone":         {"a 1 1 1 1 1", "a 1 2 1 1 1", "", "a 1 2 1 1 1", nil},
		"every language":                 {"a 1 1 1 1 1", "a 2 2 2 2 2", "", "a 2 2 2 2 2", nil},
		"Korean alone":                   {"a 1 1 1 1 1", "a 2 1 1 1 1", "", "a 1 1 1 1 1", []string{"en, ja, zh-Hans, vi"}},
		"Korean and some":                {"a 1 1 1 1 1", "a 2 2 1 2 2", "", "a 1 1 1 1 1", []string{"ja"}},
		"Korean alone, compared":         {"a 1 1 1 1 1", "a 2 1 1 1 1", "a", "a 2 1 1 1 1", nil},
		"Korean alone, another compared": {"a 1 1", "a 2 1", "b", "a 1 1", []string{"en"}},
	} {
		t.Run(name, func(t *testing.T) {
			renewed, stale := parseChecked(c.old).renewed(parseChecked(c.now), strings.Fields(c.compared))
			require.Equal(t, parseChecked(c.want), renewed)
			require.Len(t, stale, len(c.stale))
			for n, languages := range c.stale {
				require.Equal(t, "a: the Korean has changed, and "+languages+" not", stale[n])
			}
		})
	}
}
