package room

import "unicode"

// A code is as long as this, without what stands between its characters.
const (
	minCode = 4
	maxCode = 8
)

// Mask puts * in the place of all that could be a code: what may be kept of a text, and what support may read. That is
// every digit and number sign of any script, every word that a digit is part of, and 4 to 8 capital letters, together or
// in pieces with one separator between them. Full-width letters count as plain ones, and what no reader sees hides
// nothing. It hides more than codes, rather than less; what is masked stays as it is when it is masked again.
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

// piece is a run of letters and digits: runes[from:to], with what no reader sees among them.
type piece struct {
	from, to, size int
	digits, small  bool // it has a digit; a small letter
	joined         bool // one separator is all that is between it and the piece before
}

func piecesOf(runes []rune) []piece {
	var pieces []piece
	open, between := false, 0 // between counts to 2: a letter or the end of a line is no separator
	for i, r := range runes {
		plain := Plain(r)
		if plain < 0 {
			continue
		}
		digit, capital, small := unicode.IsNumber(plain), plain >= 'A' && plain <= 'Z', plain >= 'a' && plain <= 'z'
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

// shownDigits is how much of a sender's number is kept, so that support can tell one from another.
const shownDigits = 4

// MaskSender puts * in the place of all digits of a sender's number, of any script, but the last four.
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
