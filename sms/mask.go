package sms

import (
	"strings"
	"unicode"
)

// Mask puts * in the place of every digit and number sign of any script: what may be kept of a text, and what
// support may read.
func Mask(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsNumber(r) {
			return '*'
		}
		return r
	}, text)
}
