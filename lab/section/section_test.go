package section

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyTheProgramsOwnPartIsReplaced(t *testing.T) {
	page := replaced("# Title\n\nby hand\n", "one", "a", "first")
	page = replaced(page, "two", "b", "other")
	require.Equal(t, "# Title\n\nby hand\n\n<!-- one: begin, written by a -->\nfirst\n<!-- one: end -->\n\n"+
		"<!-- two: begin, written by b -->\nother\n<!-- two: end -->\n", page)
	require.Equal(t, "# Title\n\nby hand\n\n<!-- one: begin, written by c -->\nsecond\n<!-- one: end -->\n\n"+
		"<!-- two: begin, written by b -->\nother\n<!-- two: end -->\n", replaced(page, "one", "c", "second\n"))
}
