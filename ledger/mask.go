package ledger

import (
	"strings"
	"unicode"
)

// mask hides every digit, of any script. Whoever hands a text in has done so already; this makes sure
// that no code is ever written down.
func mask(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '*'
		}
		return r
	}, text)
}

// shownDigits is how much of a sender's number is kept, so that support can tell one from another.
const shownDigits = 4

// maskSender hides all digits but the last few.
func maskSender(sender string) string {
	runes := []rune(sender)
	for i, shown := len(runes)-1, 0; i >= 0; i-- {
		if !unicode.IsDigit(runes[i]) && runes[i] != '*' {
			continue
		}
		if shown++; shown > shownDigits {
			runes[i] = '*'
		}
	}
	return string(runes)
}
