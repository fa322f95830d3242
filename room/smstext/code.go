package smstext

import (
	"regexp"
	"slices"
	"strings"
)

// DistinctCode is the least length of a code that is taken for another seller's if that seller was sent it.
// Two sellers are sent the same four digits once in ten thousand times.
const DistinctCode = 5

// mostAlike bounds the codes that are looked for in one text.
const mostAlike = 8

var (
	// letterRun is letters and digits without a blank, such as G-482913 or ab12cd.
	letterRun = regexp.MustCompile(`[A-Z0-9]+(?:[-·][A-Z0-9]+)*`)
	// digitRun is digits with at most one character between two of them, such as 482.913 or 4 8 2 9 1 3.
	digitRun = regexp.MustCompile(`[0-9](?:[ .,·-]?[0-9]){4,}`)
	// prefixed is a code with letters before its digits, which some messages leave out.
	prefixed     = regexp.MustCompile(`^[A-Z]{1,3}([0-9]+)$`)
	betweenParts = strings.NewReplacer("-", "", "·", "", " ", "", ".", "", ",", "")
)

// SameCode returns the form in which codes are compared: without case and separators.
func SameCode(code string) string { return betweenParts.Replace(strings.ToUpper(Normal(code))) }

// CodesIn returns what a reader could take for a code in a text, in the form of SameCode: runs of 5 to 8
// characters with a digit, at most mostAlike of them. Another message with other words may have had one of
// them as its code.
func CodesIn(text string) (codes []string) {
	text = strings.ToUpper(Normal(text))
	add := func(code string) {
		if n := len(code); n >= DistinctCode && n <= maxCode && len(codes) < mostAlike &&
			!slices.Contains(codes, code) && strings.ContainsAny(code, "0123456789") {
			codes = append(codes, code)
		}
	}
	for _, run := range letterRun.FindAllString(text, -1) {
		code := betweenParts.Replace(run)
		add(code)
		if found := prefixed.FindStringSubmatch(code); found != nil {
			add(found[1])
		}
	}
	for _, run := range digitRun.FindAllString(text, -1) {
		add(betweenParts.Replace(run))
	}
	return codes
}
