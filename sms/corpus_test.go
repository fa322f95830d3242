package sms

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// Each line has a code ("-" where there is none), where the shape of the text is known from, and a text in that shape.
//
//go:embed testdata/codes.tsv
var codesTSV string

type shape struct {
	line         int
	code, source string
	text         string
}

func corpus(t testing.TB) []shape {
	t.Helper()
	var shapes []shape
	for line := range strings.Lines(codesTSV) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		n := len(shapes) + 1
		require.Len(t, fields, 3, "line %d", n)
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(fields[2], `"`, `\"`) + `"`)
		require.NoError(t, err, "line %d", n)
		require.NotEmpty(t, fields[1], "line %d does not say where its shape is known from", n)
		shapes = append(shapes, shape{line: n, code: strings.TrimPrefix(fields[0], "-"), source: fields[1], text: text})
	}
	return shapes
}

func TestCorpusIsReadWithAtMostOneCodeInAHundredWrongAndNoneWhereThereIsNone(t *testing.T) {
	shapes := corpus(t)
	require.GreaterOrEqual(t, len(shapes), 200)
	coded := 0
	var missed, made []string
	for _, s := range shapes {
		code, _ := FindCode(s.text)
		if s.code != "" {
			coded++
		}
		miss := fmt.Sprintf("line %d (%s): want %q, got %q in %q", s.line, s.source, s.code, code.Reveal(), s.text)
		switch {
		case code.Reveal() == s.code:
		case s.code == "":
			made = append(made, miss)
		default:
			missed = append(missed, miss)
		}
	}
	t.Logf("%d shapes, %d with a code: %d wrong; %d found where there is none\n%s", len(shapes), coded, len(missed), len(made),
		strings.Join(missed, "\n"))
	require.Empty(t, made, "a code where there is none")
	require.LessOrEqual(t, len(missed)*100, coded, strings.Join(missed, "\n"))
}

// As a code stands in a text: with separators, and with what no reader sees.
func TestNoCodeOfTheCorpusIsLeftWhereItsTextIsMasked(t *testing.T) {
	for _, s := range corpus(t) {
		masked := room.Mask(s.text)
		require.Equal(t, masked, room.Mask(masked), "line %d: masking again changes nothing", s.line)
		if s.code == "" {
			continue
		}
		runs := runsOf(normalise(s.text))
		written := slices.IndexFunc(runs, func(r run) bool { return r.code == s.code })
		require.GreaterOrEqual(t, written, 0, "line %d", s.line)
		r := runs[written]
		for _, form := range []string{s.code, normalise(s.text)[r.from:r.to]} {
			require.NotContains(t, masked, form, "line %d", s.line)
			require.NotContains(t, normalise(masked), form, "line %d", s.line)
		}
		require.NotContains(t, unseparated.Replace(normalise(masked)), s.code, "line %d", s.line)
	}
}
