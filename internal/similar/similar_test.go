package similar_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/similar"
)

func TestFoldLeavesOutCaseWidthAndSeparators(t *testing.T) {
	for name, want := range map[string]string{"Store-12": "store12", "ＳＴＯＲＥ　１２": "store12", "가게_ 12": "가게12",
		"--": "--", "": ""} {
		require.Equal(t, want, similar.Fold(name), name)
	}
	require.Equal(t, similar.Fold("판매자"), similar.Fold("\u1111\u1161\u11ab\u1106\u1162\u110c\u1161"),
		"however it is composed")
}

func TestDistanceCountsCharacters(t *testing.T) {
	for _, c := range []struct {
		a, b         string
		whole, begin int
	}{
		{"", "", 0, 0}, {"", "abc", 3, 0}, {"abc", "", 3, 3}, {"abc", "abc", 0, 0}, {"abc", "abcdef", 3, 0}, {"abc",
			"acb", 1, 1},
		{"abd", "abcdef", 3, 1}, {"가게", "가계", 1, 1}, {"xyz", "abc", 3, 3},
	} {
		require.Equal(t, c.whole, similar.Distance(c.a, c.b), c)
		require.Equal(t, c.begin, similar.PrefixDistance(c.a, c.b), c)
	}
}
