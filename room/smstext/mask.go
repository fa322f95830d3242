package smstext

import "unicode"

// The least and most characters of a code, without separators.
const (
	minCode = 4
	maxCode = 8
)

// Mask replaces all that could be a code by *. The ledger and support's pages have only masked texts.
//
// It masks every digit and numeric character of any script (also ½, Ⅳ and ①), every word with a digit,
// and 4 to 8 capital letters, together or in pieces with one separator in between. Full-width letters
// count as plain ones, and invisible characters are ignored. It masks too much rather than too little.
// Masking a masked text changes nothing.
func Mask(text string) string {
	runes := []rune(text)
	pieces := piecesOf(runes)
	for i, p := range pieces {
		if p.digits {
			hide(runes, p)
		}
		size := 0
		for j := i; j < len(pieces) && !pieces[j].small && (j == i || pieces[j].joined); j++ {
			if size += pieces[j].size; size > maxCode {
				break
			}
			if size >= minCode {
				for _, q := range pieces[i : j+1] {
					hide(runes, q)
				}
			}
		}
	}
	for i, r := range runes {
		if unicode.IsNumber(r) {
			runes[i] = '*'
		}
	}
	return string(runes)
}

// piece is a run of letters and digits, runes[from:to], and invisible characters among them.
type piece struct {
	from, to, size int
	digits, small  bool // whether the piece has a digit, and a small letter
	joined         bool // only one separator is between this piece and the one before
}

func piecesOf(runes []rune) []piece {
	var pieces []piece
	open, between := false, 0 // between counts to 2: a letter or the end of a line is no separator
	for i, r := range runes {
		plain := Plain(r)
		if plain < 0 {
			continue
		}
		digit, capital, small := unicode.IsNumber(plain), plain >= 'A' && plain <= 'Z', plain >= 'a' &&
			plain <= 'z'
		if !digit && !capital && !small {
			open = false
			between++
			if unicode.IsLetter(plain) || plain == '\n' {
				between = 2
			}
			continue
		}
		if !open {
			pieces = append(pieces, piece{from: i, joined: between == 1})
			open, between = true, 0
		}
		p := &pieces[len(pieces)-1]
		p.to, p.size = i+1, p.size+1
		p.digits, p.small = p.digits || digit, p.small || small
	}
	return pieces
}

func hide(runes []rune, p piece) {
	for i := p.from; i < p.to; i++ {
		if Plain(runes[i]) >= 0 {
			runes[i] = '*'
		}
	}
}

// shownDigits is the number of a sender's digits that are kept, so that support can distinguish senders.
const shownDigits = 4

// MaskSender replaces the digits of a sender's number, of any script, by *, except the last four.
func MaskSender(sender string) string {
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
