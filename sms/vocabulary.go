package sms

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// vocabulary finds its words in a folded text. In an alphabet with blanks between words, only whole words
// match.
type vocabulary struct{ byFirst, byLast map[rune][]word }

type word struct {
	text string
	kind kind
	stem bool // any ending may follow
}

// place is where a word is in a text: text[from:to].
type place struct {
	from, to int
	kind     kind
}

// list is some words of one kind, separated by commas or line ends. "~" matches a blank, a hyphen or nothing;
// "*" at the end of a word matches any ending. A word with accents also matches without them.
type list struct {
	kind  kind
	words string
}

// pairs returns all combinations of heads and tails: "a~c, a~d, b~c, b~d".
func pairs(heads, tails string) string {
	var all []string
	for _, head := range split(heads) {
		for _, tail := range split(tails) {
			all = append(all, head+"~"+tail)
		}
	}
	return strings.Join(all, ",")
}

func split(words string) []string {
	var all []string
	for _, word := range strings.FieldsFunc(words, func(r rune) bool { return r == ',' || r == '\n' }) {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

func vocabularyOf(lists ...list) vocabulary {
	v := vocabulary{map[rune][]word{}, map[rune][]word{}}
	for _, l := range lists {
		for _, text := range split(l.words) {
			text, stem := strings.CutSuffix(text, "*")
			for _, form := range forms(text) {
				v.add(word{form, l.kind, stem})
			}
		}
	}
	for _, index := range []map[rune][]word{v.byFirst, v.byLast} {
		for _, words := range index {
			slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(len(b.text), len(a.text)) })
		}
	}
	return v
}

func (v vocabulary) add(w word) {
	first, _ := utf8.DecodeRuneInString(w.text)
	last, _ := utf8.DecodeLastRuneInString(w.text)
	v.byFirst[first] = append(v.byFirst[first], w)
	v.byLast[last] = append(v.byLast[last], w)
}

// forms returns the spellings of a word in a list.
func forms(text string) []string {
	all := []string{""}
	for i, part := range strings.Split(text, "~") {
		var longer []string
		for _, form := range all {
			if i == 0 {
				longer = append(longer, part)
				continue
			}
			longer = append(longer, form+part, form+" "+part, form+"-"+part)
		}
		all = longer
	}
	for _, form := range slices.Clone(all) {
		if bare := withoutAccents(form); bare != form {
			all = append(all, bare)
		}
	}
	return all
}

// withoutAccents returns a Latin word as a telephone without accents writes it.
func withoutAccents(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); !unicode.Is(unicode.Latin, first) {
		return text
	}
	marked := func(r rune) rune {
		if r == 'đ' {
			return 'd'
		}
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}
	return norm.NFC.String(strings.Map(marked, norm.NFD.String(text)))
}

// in returns the words of a text in order, at most maxRuns. Of words that begin at one position it returns
// the longest.
func (v vocabulary) in(text string) []place {
	var places []place
	for i := 0; i < len(text) && len(places) < maxRuns; {
		if w, ok := v.at(text, i); ok {
			places = append(places, place{i, i + len(w.text), w.kind})
			i += len(w.text)
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return places
}

// at returns the longest word that begins at a position of the text.
func (v vocabulary) at(text string, from int) (word, bool) {
	first, _ := utf8.DecodeRuneInString(text[from:])
	for _, w := range v.byFirst[first] {
		if strings.HasPrefix(text[from:], w.text) && whole(text, from, from+len(w.text), w.stem) {
			return w, true
		}
	}
	return word{}, false
}

// last returns the longest word at the end of a text.
func (v vocabulary) last(text string) (word, bool) {
	last, _ := utf8.DecodeLastRuneInString(text)
	for _, w := range v.byLast[last] {
		if strings.HasSuffix(text, w.text) && whole(text, len(text)-len(w.text), len(text), false) {
			return w, true
		}
	}
	return word{}, false
}

// cutEnd returns the text without the longest word at its end.
func (v vocabulary) cutEnd(text string) (rest string, ok bool) {
	w, ok := v.last(text)
	return text[:len(text)-len(w.text)], ok
}

// endsIn reports whether a text ends in a word.
func (v vocabulary) endsIn(text string) bool {
	_, ok := v.last(text)
	return ok
}

// whole reports whether text[from:to] is not a part of a longer word.
func whole(text string, from, to int, stem bool) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	first, _ := utf8.DecodeRuneInString(text[from:to])
	if alphabetic(before) && alphabetic(first) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(text[from:to])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return stem || !alphabetic(last) || !alphabetic(after)
}

// alphabetic reports whether a letter is Latin, Greek or Cyrillic.
func alphabetic(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return r < '\u0530' && unicode.IsLetter(r) || r >= '\u1E00' && r < '\u2000'
}

// fold returns a text in small letters, each with as many bytes as the original.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if small := unicode.ToLower(r); utf8.RuneLen(small) == utf8.RuneLen(r) {
			return small
		}
		return r
	}, text)
}
