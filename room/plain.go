package room

import "unicode"

// Plain is a character as a reader takes it, in the letters that a code is made of: full-width forms are plain ones,
// every blank is a space, every dash a hyphen, every dot in the middle of a line "·". What no reader sees is -1, and
// strings.Map drops it.
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
	case '\u212A': // the Kelvin sign, which composing turns into a letter
		return 'K'
	}
	return r
}

// unseen is true for zero-width characters, soft hyphens, byte order marks, and marks of direction and of variation.
func unseen(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == '\u034F'
}
