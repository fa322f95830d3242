package describe

import (
	"strconv"
	"strings"

	"github.com/waitroom/waitroom/templates"
)

// typeOf returns a schema's type in words.
func typeOf(s node) templates.DocsType {
	if ref := s.get("$ref").text(); ref != "" {
		name := ref[strings.LastIndex(ref, "/")+1:]
		return templates.DocsType{{Text: name, Schema: name}}
	}
	if c := s.get("const"); c.there() {
		return plain(literal(c))
	}
	if values := s.get("enum").list(); len(values) > 0 {
		var words []string
		for _, v := range values {
			words = append(words, literal(v))
		}
		return plain(strings.Join(words, " | "))
	}
	if options := s.get("oneOf").list(); len(options) > 0 {
		return joined(options, " | ")
	}
	if s.get("type").text() == "array" {
		return listType(s.get("items"))
	}
	return plain(typeWords(s))
}

// listType returns a list's type; a tuple's items have types of their own.
func listType(items node) templates.DocsType {
	if tuple := items.list(); len(tuple) > 0 {
		return append(append(plain("["), joined(tuple, ", ")...), plain("]")...)
	}
	return append(typeOf(items), plain("[]")...)
}

func joined(options []node, by string) (t templates.DocsType) {
	for i, one := range options {
		if i > 0 {
			t = append(t, plain(by)...)
		}
		t = append(t, typeOf(one)...)
	}
	return t
}

// typeWords returns the names of plain types, with any format.
func typeWords(s node) string {
	var names []string
	for _, name := range s.get("type").list() {
		names = append(names, name.text())
	}
	if len(names) == 0 {
		names = []string{s.get("type").text()}
	}
	words := strings.Join(names, " | ")
	if format := s.get("format").text(); format != "" {
		words += " (" + format + ")"
	}
	return words
}

// literal returns a value as JSON.
func literal(n node) string {
	if text, ok := n.value.(string); ok {
		return strconv.Quote(text)
	}
	return n.text()
}

func plain(text string) templates.DocsType { return templates.DocsType{{Text: text}} }
