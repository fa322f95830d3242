// Package pseudonym renames a seller in free text and in JSON.
package pseudonym

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Renamer replaces a seller's id with a pseudonym.
type Renamer struct {
	Seller, Pseudonym string   // the id that is replaced, and by what
	Forms             []string // spellings of the id in a text: composed and decomposed Unicode
}

// New returns a renamer of a seller.
func New(seller, pseudonym string) Renamer {
	r := Renamer{Seller: seller, Pseudonym: pseudonym, Forms: []string{seller}}
	if decomposed := norm.NFD.String(seller); decomposed != seller {
		r.Forms = append(r.Forms, decomposed)
	}
	return r
}

// Text returns the text with the id replaced wherever it is a word. Any letter outside ASCII may follow at
// once, as 이 or 님 does in Korean: Text prefers to rename a word too many over leaving a seller's id.
func (r Renamer) Text(text string) string {
	for _, form := range r.Forms {
		text = r.words(text, form)
	}
	return text
}

func (r Renamer) words(text, form string) string {
	var out strings.Builder
	from := 0
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], form)
		if i < 0 {
			break
		}
		begin, end := at+i, at+i+len(form)
		if startsWord(text[:begin], form) && endsWord(text[end:]) {
			out.WriteString(text[from:begin])
			out.WriteString(r.Pseudonym)
			from, at = end, end
			continue
		}
		_, size := utf8.DecodeRuneInString(text[begin:])
		at = begin + size
	}
	out.WriteString(text[from:])
	return out.String()
}

// startsWord reports whether an id that follows this text is not the end of a longer id. An ASCII id may
// follow any letter outside ASCII at once.
func startsWord(before, id string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	if joins(last) { // a dot or a hyphen belongs to an id only behind another character of it
		last, _ = utf8.DecodeLastRuneInString(before[:len(before)-size])
	}
	first, _ := utf8.DecodeRuneInString(id)
	return !inID(last) || first < utf8.RuneSelf && last >= utf8.RuneSelf
}

// endsWord reports whether an id before this text is not the start of a longer id.
func endsWord(behind string) bool {
	next, size := utf8.DecodeRuneInString(behind)
	if joins(next) {
		next, _ = utf8.DecodeRuneInString(behind[size:])
		return !inID(next)
	}
	return !inID(next) || next >= utf8.RuneSelf && !unicode.IsMark(next)
}

// joins reports whether a character occurs both in ids and between words.
func joins(r rune) bool { return r == '.' || r == '-' }

func inID(r rune) bool {
	letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
	return r != utf8.RuneError && (letter || r == '_' || r == '@' || joins(r))
}

// Members of JSON that hold a seller's id, and members that a person wrote. Other members hold fixed words,
// which may happen to equal a seller's id.
var (
	sellerMembers = []string{"seller", "seller_id"}
	textMembers   = []string{"reason", "detail", "text"}
)

// JSON returns the document with the id replaced, or the same bytes if no member has it. A text that is not
// JSON is handled as Text does.
func (r Renamer) JSON(text string) string {
	if out, ok := r.document(text); ok {
		return out
	}
	return r.Text(text)
}

func (r Renamer) document(text string) (out string, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", false
	}
	value, changed := r.member("", value)
	if !changed {
		return text, true
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", false
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}

func (r Renamer) member(name string, value any) (_ any, changed bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			next, other := r.member(key, inner)
			v[key], changed = next, changed || other
		}
	case []any:
		for i, inner := range v {
			next, other := r.member(name, inner)
			v[i], changed = next, changed || other
		}
	case string:
		if slices.Contains(sellerMembers, name) && v == r.Seller {
			return r.Pseudonym, true
		}
		if slices.Contains(textMembers, name) {
			out := r.Text(v)
			return out, out != v
		}
	}
	return value, changed
}
