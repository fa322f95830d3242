package templates

import (
	"slices"
	"strings"
	"time"
)

// Words is a sentence that contains times, which the page shows in its reader's zone, and names.
type Words []Word

// Word is a piece of text, or a time.
type Word struct {
	Text string
	Name bool  // no translation may change the text
	At   int64 // unix ms; 0 = it is text
}

// instant is a value of a pattern that stays a time instead of becoming text.
type instant int64

// verbatim is a value of a pattern that no translation may change: an id, or a name.
type verbatim string

// String returns the sentence with its instants as times of day in UTC.
func (w Words) String() string {
	var b strings.Builder
	for _, part := range w {
		if part.At != 0 {
			b.WriteString(stamp(part.At, 0, formatSecond))
		}
		b.WriteString(part.Text)
	}
	return b.String()
}

// wordsOf fills a pattern as fill does, and leaves instants and names as such.
func wordsOf(pattern string, pairs ...any) Words {
	var words Words
	for i := 0; i+1 < len(pairs); i += 2 {
		var word Word
		switch value := pairs[i+1].(type) {
		case instant:
			word.At = int64(value)
		case verbatim:
			word.Text, word.Name = string(value), true
		default:
			continue
		}
		if head, tail, found := strings.Cut(pattern, "{"+pairs[i].(string)+"}"); found {
			words = append(words, Word{Text: fill(head, pairs...)}, word)
			pattern = tail
		}
	}
	words = append(words, Word{Text: fill(pattern, pairs...)})
	return trimmed(words)
}

func trimmed(words Words) Words {
	kept := words[:0]
	for _, w := range words {
		if w != (Word{}) {
			kept = append(kept, w)
		}
	}
	return kept
}

// join joins the non-empty sentences.
func (t Text) join(list ...Words) Words {
	var all Words
	for _, words := range list {
		if len(all) > 0 && len(words) > 0 {
			all = append(all, Word{Text: t.Desk.Story.Sep})
		}
		all = append(all, words...)
	}
	return all
}

// The ways a page writes an instant; static/js/desk/times.js has the same, and
// testdata/words.json tests both.
const (
	formatSecond = "second" // 14:03:12
	formatMinute = "minute" // 14:03
	formatFull   = "full"   // 2026-07-03 14:03:12
	formatDay    = "day"    // 2026-07-03 14:03
)

var layouts = map[string]string{
	formatSecond: time.TimeOnly,
	formatMinute: "15:04",
	formatFull:   time.DateTime,
	formatDay:    "2006-01-02 15:04",
}

// stamp writes an instant in UTC; with the date where that differs from the previous instant's.
func stamp(at, after int64, format string) string {
	when, last := time.UnixMilli(at).UTC(), time.UnixMilli(after).UTC()
	if after != 0 && when.Format(time.DateOnly) != last.Format(time.DateOnly) {
		format = dated(format)
	}
	return when.Format(layouts[format])
}

func dated(format string) string {
	switch format {
	case formatSecond:
		return formatFull
	case formatMinute:
		return formatDay
	}
	return format
}

func machineTime(at int64) string {
	return time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// parts joins the non-empty texts.
func parts(sep string, list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(part string) bool { return part == "" }), sep)
}
