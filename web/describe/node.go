package describe

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// node is a part of a document, its fields in document order.
type node struct{ value any }

// readNode parses a document. Tests parse both, so that a failure here is a bug.
func readNode(text []byte) node {
	var value any
	if err := yaml.UnmarshalWithOptions(text, &value, yaml.UseOrderedMap()); err != nil {
		panic("describe: an embedded document: " + err.Error())
	}
	return node{value}
}

// get returns the node under nested keys; an empty node without one.
func (n node) get(keys ...string) node {
	for _, key := range keys {
		var found any
		for name, v := range n.fields() {
			if name == key {
				found = v.value
			}
		}
		n = node{found}
	}
	return n
}

// fields returns an object's fields in order.
func (n node) fields() func(func(string, node) bool) {
	return func(yield func(string, node) bool) {
		m, _ := n.value.(yaml.MapSlice)
		for _, item := range m {
			if !yield(fmt.Sprint(item.Key), node{item.Value}) {
				return
			}
		}
	}
}

// list returns the items of a list.
func (n node) list() (items []node) {
	l, _ := n.value.([]any)
	for _, v := range l {
		items = append(items, node{v})
	}
	return items
}

// text returns a value as text; "" without one.
func (n node) text() string {
	if n.value == nil {
		return ""
	}
	return fmt.Sprint(n.value)
}

func (n node) there() bool { return n.value != nil }

// follow resolves a reference; any other node is returned as it is.
func (n node) follow(root node) node {
	if ref := n.get("$ref").text(); ref != "" {
		return root.get(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).follow(root)
	}
	return n
}

// words returns a node's own description, or that of its reference's target.
func (n node) words(root node) string {
	if own := n.get("description").text(); own != "" {
		return own
	}
	return n.follow(root).get("description").text()
}
