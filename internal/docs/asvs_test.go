package docs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A reader sees for each chapter where the product stands, and by which proof.
func TestASVSPageHasAVerdictForEachChapterAndAProofOfWhatIsMet(t *testing.T) {
	text := read(t, "docs/asvs.md")
	verdicts := []string{"met", "met for the desk", "partly", "not met", "not applicable", "the proxy's"}
	chapter, rows := 0, map[int]int{}
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| section") || strings.HasPrefix(line, "| ---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if strings.HasPrefix(line, "| **V") {
			chapter++
			require.Contains(t, cells[0], fmt.Sprintf("**V%d ", chapter))
		}
		if strings.HasSuffix(line, "| | |") {
			continue
		}
		rows[chapter]++
		require.Len(t, cells, 3, line)
		require.True(t, slices.Contains(verdicts, cells[1]), line)
		if cells[1] == "met" {
			require.True(t, quotedTest.MatchString(cells[2]) || link.MatchString(cells[2]), line)
		}
	}
	require.Equal(t, 17, chapter)
	require.Len(t, rows, 17, "no chapter is without a verdict")
}
