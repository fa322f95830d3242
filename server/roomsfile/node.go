package roomsfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

type kind int

const (
	nothing kind = iota // null, or an empty value
	scalar
	list
	group
)

// node is a value as it is written: 010 is not a number yet.
type node struct {
	line  int
	kind  kind
	text  string
	items []*node
	pairs []pair
}

type pair struct{ key, value *node }

// value returns the value of the first of keys in a group; nil without one.
func (n *node) value(keys ...string) *node {
	for _, key := range keys {
		for _, p := range n.pairs {
			if p.key.text == key {
				return p.value
			}
		}
	}
	return nil
}

// one returns the text of a single value.
func (n *node) one() (string, error) {
	if n.kind != scalar {
		return "", fmt.Errorf("is %s: want one value", n.shown())
	}
	return n.text, nil
}

// each returns the items of a list, or a single value as the only one.
func (n *node) each() []*node {
	if n.kind == scalar {
		return []*node{n}
	}
	return n.items
}

// parse parses YAML: texts, lists and groups. It reports faults to wrong, and returns nil if it cannot
// continue.
func parse(text []byte, wrong func(line int, format string, args ...any)) *node {
	file, err := parseYAML(text)
	if err != nil {
		line, message := whereWrong(err)
		wrong(line, "it is not YAML: %s", message)
		return nil
	}
	if len(file.Docs) > 1 {
		wrong(file.Docs[1].GetToken().Position.Line, "a second document begins: want one")
		return nil
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return &node{line: 1}
	}
	return nodeOf(file.Docs[0].Body, 1, wrong)
}

// parseYAML never panics: a running server reads what a person has just typed.
func parseYAML(text []byte) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it can not be read")
		}
	}()
	return parser.ParseBytes(text, 0)
}

// whereWrong returns the parser's message without the quoted lines, which may hold a secret.
func whereWrong(err error) (line int, message string) {
	known, ok := errors.AsType[yaml.Error](err)
	if !ok || known.GetToken() == nil || known.GetToken().Position == nil {
		return 1, "it can not be read"
	}
	message, _, _ = strings.Cut(known.GetMessage(), `: "`)
	return known.GetToken().Position.Line, message
}

// nodeOf converts a value; above is the line of its parent.
func nodeOf(n ast.Node, above int, wrong func(line int, format string, args ...any)) *node {
	at := &node{line: above}
	if n == nil {
		return at
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		at.line = t.Position.Line
	}
	switch v := n.(type) {
	case *ast.NullNode:
		at.line = above // an empty value's position is the next token's
	case *ast.StringNode:
		at.kind, at.text = scalar, v.Value
	case *ast.LiteralNode:
		at.kind, at.text = scalar, strings.TrimRight(v.Value.Value, "\n")
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		at.kind, at.text = scalar, n.GetToken().Value
	case *ast.SequenceNode:
		at.kind = list
		for _, item := range v.Values {
			at.items = append(at.items, nodeOf(item, at.line, wrong))
		}
	case *ast.MappingNode:
		at.kind = group
		for _, p := range v.Values {
			at.add(p, wrong)
		}
	case *ast.MappingValueNode:
		at.kind = group
		at.add(v, wrong)
	default:
		wrong(at.line, "anchors, aliases and tags are not read: write what rooms share under their prefix")
	}
	return at
}

func (n *node) add(p *ast.MappingValueNode, wrong func(line int, format string, args ...any)) {
	key := nodeOf(p.Key, n.line, wrong)
	if key.kind != scalar {
		wrong(key.line, "a key is a word, with a colon and a space behind it")
		return
	}
	n.pairs = append(n.pairs, pair{key, nodeOf(p.Value, key.line, wrong)})
}

// shown returns a value for an error message.
func (n *node) shown() string {
	switch n.kind {
	case nothing:
		return "empty"
	case list:
		return "a list"
	case group:
		return "a group"
	}
	return fmt.Sprintf("%q", n.text)
}
