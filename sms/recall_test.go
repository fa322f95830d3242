package sms

import (
	"hash/crc32"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The least recall and precision over all lines; a third of the lines is unseen.
const (
	bar    = 0.98
	thirds = 3
)

// unseen reports whether a line was held back when the finder was tuned: a third of each language's lines, by
// a hash of the text.
func (s shape) unseen() bool { return crc32.ChecksumIEEE([]byte(s.text))%thirds == 0 }

// tally counts the lines, those with a code, those in which a code was found, and those in which it was the
// right one.
type tally struct{ lines, coded, found, right int }

func (c *tally) add(s shape) {
	code, ok := FindCode(s.text)
	c.lines++
	if s.code != "" {
		c.coded++
	}
	if ok {
		c.found++
	}
	if ok && code.Reveal() == s.code {
		c.right++
	}
}

func (c *tally) recall() float64    { return float64(c.right) / float64(max(1, c.coded)) }
func (c *tally) precision() float64 { return float64(c.right) / float64(max(1, c.found)) }

func (c *tally) log(t *testing.T, name string) {
	t.Helper()
	t.Logf("%-6s %4d lines: recall %5.1f %%, precision %5.1f %%", name, c.lines, 100*c.recall(),
		100*c.precision())
}

func logTallies(t *testing.T, shapes []shape) (all tally) {
	t.Helper()
	for _, language := range languages {
		var c tally
		for _, s := range shapes {
			if s.language == language {
				c.add(s)
				all.add(s)
			}
		}
		c.log(t, language)
	}
	all.log(t, "all")
	return all
}

// The finder was tuned on two thirds of the lines, which were written before. Only the figures of the other
// third are printed, so that its lines stay unseen.
func TestFinderOfCodesReachesItsBar(t *testing.T) {
	shapes := languageShapes(t)
	t.Run("seen", func(t *testing.T) {
		seen := slices.DeleteFunc(slices.Clone(shapes), shape.unseen)
		logTallies(t, seen)
		for _, s := range seen {
			if code, _ := FindCode(s.text); code.Reveal() != s.code {
				t.Logf("%s:%d: want %q, got %q in %q", s.language, s.line, s.code, code.Reveal(), s.text)
			}
		}
	})
	t.Run("unseen", func(t *testing.T) {
		logTallies(t, slices.DeleteFunc(slices.Clone(shapes), func(s shape) bool { return !s.unseen() }))
	})
	t.Run("whole", func(t *testing.T) {
		all := logTallies(t, shapes)
		require.GreaterOrEqual(t, all.recall(), bar)
		require.GreaterOrEqual(t, all.precision(), bar)
	})
}
