package templates_test

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shown returns the texts of the visible parts of a page, by id, its title, and the body's attributes.
func shown(t *testing.T, page string, ids []string) map[string]string {
	t.Helper()
	r := pageReader{wanted: append([]string{"title"}, ids...), open: []element{{text: &strings.Builder{}}},
		found: map[string]string{}}
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for token, err := decoder.Token(); err == nil; token, err = decoder.Token() {
		switch part := token.(type) {
		case xml.StartElement:
			r.begin(part)
		case xml.EndElement:
			r.end()
		case xml.CharData:
			r.add(string(part))
		}
	}
	require.Len(t, r.open, 1, "the page is read to its end")
	return r.found
}

type pageReader struct {
	wanted []string
	open   []element
	found  map[string]string
}

type element struct {
	id   string
	text *strings.Builder // nil where it is hidden
}

func (r *pageReader) begin(part xml.StartElement) {
	e := element{id: attribute(part, "id")}
	switch part.Name.Local {
	case "title":
		e.id = "title"
	case "body":
		for _, name := range []string{"data-state", "data-step", "data-next", "data-missed", "data-hurry",
			"data-paused"} {
			r.found[name] = attribute(part, name)
		}
	}
	closed := part.Name.Local == "dialog" && !has(part, "open")
	if r.open[len(r.open)-1].text != nil && !has(part, "hidden") && !closed {
		e.text = &strings.Builder{}
	}
	r.open = append(r.open, e)
}

func (r *pageReader) end() {
	e := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	if e.text == nil {
		return
	}
	text := strings.Join(strings.Fields(e.text.String()), " ")
	if slices.Contains(r.wanted, e.id) {
		r.found[e.id] = text
	}
	r.add(" " + text + " ")
}

func (r *pageReader) add(text string) {
	if top := r.open[len(r.open)-1]; top.text != nil {
		top.text.WriteString(text)
	}
}

func attribute(e xml.StartElement, name string) string {
	n := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
	if n < 0 {
		return ""
	}
	return e.Attr[n].Value
}

func has(e xml.StartElement, name string) bool {
	return slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
}
