package ledger

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// eraser renames a seller in text.
type eraser struct {
	seller, pseudonym string
	forms             []string // how people may have written it: composed or not
}

func newEraser(seller, pseudonym string) eraser {
	e := eraser{seller: seller, pseudonym: pseudonym, forms: []string{seller}}
	if apart := norm.NFD.String(seller); apart != seller {
		e.forms = append(e.forms, apart)
	}
	return e
}

// rewrite renames it in what somebody wrote, or in JSON of ours.
func (e eraser) rewrite(text string, inJSON bool) string {
	if inJSON {
		if out, ok := e.json(text); ok {
			return out
		}
	}
	return e.text(text)
}

// text renames it where it stands as a word. A letter of another script may follow at once, as 이 or 님 does in Korean; so may any
// letter that is not ASCII: rather a word too many is renamed than a seller left.
func (e eraser) text(text string) string {
	for _, form := range e.forms {
		text = e.words(text, form)
	}
	return text
}

func (e eraser) words(text, form string) string {
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
			out.WriteString(e.pseudonym)
			from, at = end, end
			continue
		}
		_, size := utf8.DecodeRuneInString(text[begin:])
		at = begin + size
	}
	out.WriteString(text[from:])
	return out.String()
}

// startsWord says whether what comes before an id is not a part of a longer one.
func startsWord(before, id string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	if joins(last) { // a dot at the end of a sentence is none of an id
		last, _ = utf8.DecodeLastRuneInString(before[:len(before)-size])
	}
	first, _ := utf8.DecodeRuneInString(id)
	return !inID(last) || first < utf8.RuneSelf && last >= utf8.RuneSelf
}

func endsWord(behind string) bool {
	next, size := utf8.DecodeRuneInString(behind)
	if joins(next) {
		next, _ = utf8.DecodeRuneInString(behind[size:])
		return !inID(next)
	}
	return !inID(next) || next >= utf8.RuneSelf && !unicode.IsMark(next)
}

// joins is true of what is both in ids and between words.
func joins(r rune) bool { return r == '.' || r == '-' }

func inID(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_' || r == '@' || joins(r))
}

// Members of JSON that are a seller, and those that somebody wrote. What else there is has words of its own, which a seller may be called.
var (
	sellerMembers = []string{"seller", "seller_id"}
	textMembers   = []string{"reason", "detail", "text"}
)

// json renames it in JSON; ok is false of what is none. What does not name the seller is given back as it was.
func (e eraser) json(text string) (out string, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", false
	}
	value, changed := e.member("", value)
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

func (e eraser) member(name string, value any) (_ any, changed bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			next, other := e.member(key, inner)
			v[key], changed = next, changed || other
		}
	case []any:
		for i, inner := range v {
			next, other := e.member(name, inner)
			v[i], changed = next, changed || other
		}
	case string:
		if slices.Contains(sellerMembers, name) && v == e.seller {
			return e.pseudonym, true
		}
		if slices.Contains(textMembers, name) {
			out := e.text(v)
			return out, out != v
		}
	}
	return value, changed
}
