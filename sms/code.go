package sms

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
)

// A code has this many characters. A longer run is no code, and contains none.
const (
	minCode = 4
	maxCode = 8
)

// FindCode returns the code in a text; ok is false without one. It is the first run of 4 to 8 digits, or
// capital letters and digits, that the wording marks as a code. If there is none, it is the first run of
// digits that no wording rules out, provided that the text mentions a code or is short. The code has plain
// characters, without separators and without the letter before it ("G-123456").
func FindCode(text string) (code Secret, ok bool) { return findIn(text, room.Part{}) }

// findIn is FindCode for a part of a long message. A run that touches the next part, or the one before, may
// be half a code, so it is none.
func findIn(text string, part room.Part) (Secret, bool) {
	w := read(text)
	if len(w.runs) == 0 {
		return Secret{}, false
	}
	r, ok := w.marked()
	if !ok {
		r, ok = w.bare()
	}
	if part.Part > 1 && strings.Trim(w.text[:r.from], separators) == "" ||
		part.Part < part.Parts && strings.Trim(w.text[r.to:], separators) == "" {
		return Secret{}, false
	}
	return NewSecret(r.code), ok
}

// separators may join the pieces of a code.
const separators = "-_·"

// wording is a text prepared for the search.
type wording struct {
	text   string  // in plain characters
	folded string  // lower-case, with the same byte offsets
	runs   []run   // possible codes
	labels []place // words that announce a code
	asks   bool    // it asks to enter a code, or to keep it secret
	advert bool    // it is marked as an advertisement
}

func read(text string) *wording {
	w := &wording{text: smstext.Normal(text)}
	if w.runs = runsOf(w.text); len(w.runs) == 0 {
		return w
	}
	w.folded = fold(w.text)
	w.advert = isAdvert(w.folded)
	end := optOutFrom(w.folded)
	w.text, w.folded, w.runs = w.text[:end], w.folded[:end], w.runs[:nextRun(w.runs, end)]
	w.labels, w.runs = labelsOf(w.folded, w.runs)
	w.asks = w.speaksOf(asking, entering, secrecy)
	w.runs = possible(w.folded, w.runs, w.speaksOf(asking, entering))
	if !w.speaksOf(naming, calling, purpose, asking, entering, secrecy) { // "my new number is 4829"
		w.labels = slices.DeleteFunc(w.labels, func(l place) bool { return l.kind == numbering })
	}
	return w
}

// rules map kinds of labels to the runs that they mark, the clearest rule first.
var rules = []struct {
	kinds []kind
	mark  marker
}{
	{[]kind{naming}, afterCopula}, {[]kind{naming}, inReach}, {[]kind{calling, heading, numbering}, beside},
	{[]kind{asking, entering, closing}, beside},
	{[]kind{calling}, afterCopula}, {[]kind{calling, numbering}, inReach}, {[]kind{naming}, wordBeside},
	{[]kind{calling, heading}, wordBeside},
}

// marked returns the first run that the clearest matching rule marks. An advertisement needs an unambiguous
// rule.
func (w *wording) marked() (run, bool) {
	if r, ok := w.foremost(beside, naming); ok || w.advert {
		return r, ok
	}
	for _, rule := range rules {
		if r, ok := w.foremost(rule.mark, rule.kinds...); ok {
			return r, true
		}
	}
	return run{}, false
}

// foremost returns the first run in the text that a label of these kinds marks.
func (w *wording) foremost(mark marker, kinds ...kind) (run, bool) {
	first, ok := run{}, false
	for _, label := range w.labels {
		if !slices.Contains(kinds, label.kind) {
			continue
		}
		if r, marks := mark(w, label); marks && (!ok || r.from < first.from) {
			first, ok = r, true
		}
	}
	return first, ok
}

// bare returns the first run of digits that nothing speaks against. The text must mention a code or be short.
func (w *wording) bare() (run, bool) {
	if w.advert || !w.speaksOf(naming, calling, entering, secrecy) && !w.isShort() {
		return run{}, false
	}
	for _, r := range w.runs {
		if r.plain() && !r.letters && !round.MatchString(r.code) {
			return r, true
		}
	}
	return run{}, false
}

// round matches prices, and one code in a thousand.
var round = regexp.MustCompile(`^[1-9]\d*000$`)

// speaksOf reports whether a text has a label of one of the kinds.
func (w *wording) speaksOf(kinds ...kind) bool {
	return slices.ContainsFunc(w.labels, func(l place) bool { return slices.Contains(kinds, l.kind) })
}

// beyond matches parts that do not count as wording: senders and marks in brackets, telephone numbers to
// call, and how long a code is valid.
var beyond = regexp.MustCompile(`\[[^\]\n]*\]|【[^】\n]*】|\d+ ?(?:분|초|min|sec|分钟|分)(?:\PL|$)|(?:고객센터|문의` +
	`|tel)\.?:? ?[\d-]+|\b[a-z]{1,3}-\d`)

// isShort reports whether a text has at most two words beside its sender. A text with letters that are not
// alphabetic is never short, since blanks do not separate its words.
func (w *wording) isShort() bool {
	rest := beyond.ReplaceAllString(w.folded, "")
	foreign := func(r rune) bool { return unicode.IsLetter(r) && !alphabetic(r) }
	return !strings.ContainsFunc(rest, foreign) &&
		len(strings.FieldsFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) })) <= 2
}
