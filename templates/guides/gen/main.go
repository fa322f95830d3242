// Gen writes the guides of the support desk as HTML, from pages of docs. Run it by make generate.
package main

import (
	"bytes"
	"log"
	"os"
	"path"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// guides maps each page, as seen from the module's root, to what is made of it.
var guides = map[string]string{"docs/ko/support.md": "templates/guides/ko.html",
	"docs/support.md": "templates/guides/en.html"}

func main() {
	for page, target := range guides {
		source, err := os.ReadFile(page)
		if err != nil {
			log.Fatal(err)
		}
		html, err := render(source)
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(target, html, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

func render(source []byte) ([]byte, error) {
	if rest, ok := bytes.CutPrefix(source, []byte("<!--")); ok { // the page that it was compared with
		_, source, _ = bytes.Cut(rest, []byte("-->\n"))
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	ids := parser.WithContext(parser.NewContext(parser.WithIDs(anchors{})))
	tree := markdown.Parser().Parse(text.NewReader(source), ids)
	fit(tree)
	var html bytes.Buffer
	err := markdown.Renderer().Render(&html, source, tree)
	return bytes.ReplaceAll(html.Bytes(), []byte("<pre>"), []byte(`<pre tabindex="0">`)), err
}

// fit gives tables the desk's look. Of links to other pages only those to the API's stay: a server has no
// others.
func fit(tree ast.Node) {
	var links []*ast.Link
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *east.Table:
			n.SetAttributeString("class", []byte("desk-table"))
			n.SetAttributeString("tabindex", []byte("0")) // it may be scrolled, also by keys
		case *ast.Link:
			if entering {
				links = append(links, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, link := range links {
		to, _, _ := strings.Cut(string(link.Destination), "#")
		switch {
		case to == "" || strings.Contains(to, ":"):
		case path.Base(to) == "api.md":
			link.Destination = []byte("/docs")
		default:
			unwrap(link)
		}
	}
}

// unwrap puts a link's words in its place.
func unwrap(link *ast.Link) {
	for word := link.FirstChild(); word != nil; word = link.FirstChild() {
		link.Parent().InsertBefore(link.Parent(), link, word)
	}
	link.Parent().RemoveChild(link.Parent(), link)
}

// anchors names headings as Markdown viewers do: lower case, words joined by hyphens.
type anchors struct{}

// Generate implements parser.IDs.
func (anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	return bytes.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, bytes.TrimSpace(heading))
}

// Put implements parser.IDs.
func (anchors) Put([]byte) {}
