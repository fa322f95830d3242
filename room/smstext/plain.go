// Package smstext compares and masks what phones and providers report of SMS: senders, texts and codes.
package smstext

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Plain returns the plain form of a character, so that texts that look alike compare equal.
//
// Full-width forms become plain ones, a digit of any script the ASCII one, every blank a space, every dash a
// hyphen, every dot in the middle of a line "·". An invisible character becomes -1, which strings.Map drops.
func Plain(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r >= '！' && r <= '～':
		return r - '！' + '!'
	case unseen(r):
		return -1
	case unicode.Is(unicode.Zs, r):
		return ' '
	case unicode.Is(unicode.Pd, r) || r == '\u2212': // the minus sign
		return '-'
	}
	switch r {
	case '\u2022', '\u2027', '\u2219', '\u22C5', '\u30FB', '\uFF65':
		return '·'
	case '￦':
		return '₩'
	case '\u212A': // the Kelvin sign, which NFC turns into a letter
		return 'K'
	}
	return plainDigit(r)
}

// plainDigit returns the ASCII digit for a digit of any script.
func plainDigit(r rune) rune {
	if !unicode.IsDigit(r) {
		return r
	}
	for _, span := range unicode.Nd.R16 { // each span consists of whole sets of ten, from zero
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

// Normal returns a text as a reader sees it: composed, in plain characters, without invisible ones.
func Normal(text string) string { return norm.NFC.String(strings.Map(Plain, text)) }

// Folded returns a text without case, width and blanks, so that pieces of texts can be found in others.
func Folded(text string) string {
	return strings.ToLower(norm.NFKC.String(strings.Map(func(r rune) rune {
		if r = Plain(r); unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)))
}

// marks stand before an SMS from a program or from abroad. Korean phones are shown them; providers leave them
// out.
var marks = []string{"[Web발신]", "[WEB발신]", "[국제발신]", "[국외발신]"}

// Same returns the form that all phones' and providers' reports of one SMS have in common: one space for each
// run of blanks and line ends, and no mark before it.
func Same(text string) string {
	text = strings.Join(strings.Fields(Normal(text)), " ")
	for _, mark := range marks {
		if rest, ok := strings.CutPrefix(text, mark); ok {
			return strings.TrimPrefix(rest, " ")
		}
	}
	return text
}

// unseen reports whether a character is invisible: zero-width, soft hyphen, byte order, direction or
// variation.
func unseen(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == '\u034F'
}
