package sms

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/waitroom/waitroom/room"
)

// A code has this many characters. A longer run is not a code, and no part of it is.
const (
	minCode = 4
	maxCode = 8
)

// FindCode returns the code of a text: the first run of 4 to 8 digits or capital letters and digits that the wording
// marks as one, else the first run of digits that no wording rules out, where the text speaks of a code or is short; ok
// is false where there is none. The code is in plain characters, without separators and without the letter before it
// ("G-123456").
func FindCode(text string) (code Secret, ok bool) {
	w := read(text)
	if len(w.runs) == 0 {
		return Secret{}, false
	}
	r, ok := w.marked()
	if !ok {
		r, ok = w.bare()
	}
	return NewSecret(r.code), ok
}

// normalise writes a text as a reader sees it: without what is invisible, in plain digits and letters, composed.
func normalise(text string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune { return plainDigit(room.Plain(r)) }, text))
}

// plainDigit is the digit of our own script for one of any script.
func plainDigit(r rune) rune {
	if r < 0x80 || !unicode.IsDigit(r) {
		return r
	}
	for _, span := range unicode.Nd.R16 { // each is of whole sets of ten, from the zero on
		if rune(span.Lo) <= r && r <= rune(span.Hi) {
			return '0' + (r-rune(span.Lo))%10
		}
	}
	for _, span := range unicode.Nd.R32 {
		if rune(span.Lo) <= r && r <= rune(span.Hi) {
			return '0' + (r-rune(span.Lo))%10
		}
	}
	return r
}

// wording is a text as the finder reads it.
type wording struct {
	text   string  // in plain characters
	folded string  // in small letters, byte for byte the same
	runs   []run   // what may be a code
	labels []place // what announces one
	asks   bool    // it asks to enter a code, or not to tell it
	advert bool    // it says that it is an advertisement
}

func read(text string) *wording {
	w := &wording{text: normalise(text)}
	if w.runs = runsOf(w.text); len(w.runs) == 0 {
		return w
	}
	w.folded = fold(w.text)
	w.advert = isAdvert(w.folded)
	w.labels = labelsOf(w.folded, w.runs)
	w.runs = possible(w.folded, w.runs)
	w.asks = w.speaksOf(asking, entering, secrecy)
	if !w.speaksOf(naming, calling, purpose, asking, entering, secrecy) { // "my new number is 4829"
		w.labels = slices.DeleteFunc(w.labels, func(l place) bool { return l.kind == numbering })
	}
	return w
}

// rules are how clearly a kind of label marks a run, the clearest first.
var rules = []struct {
	kinds []kind
	mark  marker
}{
	{[]kind{naming}, said}, {[]kind{naming}, inReach}, {[]kind{calling, heading, numbering}, beside}, {[]kind{asking, entering, closing}, beside},
	{[]kind{calling}, said}, {[]kind{calling, numbering}, inReach}, {[]kind{naming}, wordBeside}, {[]kind{calling, heading}, wordBeside},
}

// marked is the foremost run of those that the wording marks most clearly. An advertisement has to leave no doubt.
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

// foremost is the first run in the text that any of the labels of some kinds marks.
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

// bare is the first run of digits that looks like nothing but a code, in a text that speaks of one or is short.
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

// round is what a price is, and one code in a thousand.
var round = regexp.MustCompile(`^[1-9]\d*000$`)

// speaksOf is true for a text that has a label of one of the kinds.
func (w *wording) speaksOf(kinds ...kind) bool {
	return slices.ContainsFunc(w.labels, func(l place) bool { return slices.Contains(kinds, l.kind) })
}

// beyond is what is no wording: a sender or a mark in brackets, whom to call, and how long a code is good for.
var beyond = regexp.MustCompile(`\[[^\]\n]*\]|【[^】\n]*】|\d+ ?(?:분|초|min|sec|分钟|分)(?:\PL|$)|(?:고객센터|문의|tel)\.?:? ?[\d-]+|\b[a-z]{1,3}-\d`)

// isShort is true for a text with at most two words beside its sender, and none in a script that needs no blanks.
func (w *wording) isShort() bool {
	rest := beyond.ReplaceAllString(w.folded, "")
	foreign := func(r rune) bool { return unicode.IsLetter(r) && !alphabetic(r) }
	return !strings.ContainsFunc(rest, foreign) && len(strings.FieldsFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) })) <= 2
}
