package sms

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/waitroom/waitroom/room"
)

// A code has this many characters. A longer run is not a code, and no part of it is.
const (
	minCode = 4
	maxCode = 8
)

// FindCode finds the code in a text: the first run of 4 to 8 digits or capital letters and digits that the wording
// marks as one, else the first run of digits that no wording rules out; ok is false where there is none. It is given
// in plain characters, without the separators it is written with and without the letter before it ("G-123456").
func FindCode(text string) (code Secret, ok bool) {
	text = normalise(text)
	runs := possible(text, runsOf(text))
	if len(runs) == 0 {
		return Secret{}, false
	}
	r, ok := marked(text, runs)
	if !ok {
		r, ok = bare(text, runs)
	}
	return NewSecret(r.code), ok
}

// normalise writes a text as a reader sees it: without what is invisible, in plain digits and letters, composed.
func normalise(text string) string {
	return norm.NFC.String(strings.Map(room.Plain, text))
}

// marked is the foremost run of those that the wording marks most clearly. An advertisement has to leave no doubt.
func marked(text string, runs []run) (run, bool) {
	strong := strongLabel.FindAllStringIndex(text, maxRuns)
	if r, ok := foremost(text, runs, strong, beside); ok || isAdvert(text) {
		return r, ok
	}
	if r, ok := foremost(text, runs, strong, inReach); ok {
		return r, ok
	}
	weak := weakLabel.FindAllStringIndex(text, maxRuns)
	if r, ok := foremost(text, runs, weak, beside); ok {
		return r, ok
	}
	if r, ok := foremost(text, runs, weak, inReach); ok {
		return r, ok
	}
	if r, ok := foremost(text, runs, strong, wordBeside); ok {
		return r, ok
	}
	return foremost(text, runs, weak, wordBeside)
}

// bare is the first run of digits that looks like nothing but a code.
func bare(text string, runs []run) (run, bool) {
	if isAdvert(text) {
		return run{}, false
	}
	for _, r := range runs {
		if !r.doubtful && !r.letters && !round.MatchString(r.code) {
			return r, true
		}
	}
	return run{}, false
}

// round is what a price is, and one code in a thousand.
var round = regexp.MustCompile(`^[1-9]\d*000$`)

// foremost is the first run in the text that any of the labels marks.
func foremost(text string, runs []run, labels [][]int, mark marker) (run, bool) {
	first, ok := run{}, false
	for _, label := range labels {
		if r, marks := mark(text, runs, label[0], label[1]); marks && (!ok || r.from < first.from) {
			first, ok = r, true
		}
	}
	return first, ok
}
