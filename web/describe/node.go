package describe

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// node is a part of a document, its fields in the order in which they are written.
type node struct{ value any }

// readNode reads a document. Ours are read in tests, so that none is there that can not be.
func readNode(text []byte) node {
	var value any
	if err := yaml.UnmarshalWithOptions(text, &value, yaml.UseOrderedMap()); err != nil {
		panic("describe: an embedded document: " + err.Error())
	}
	return node{value}
}

// get is what stands under keys, one within another; nothing where there is none.
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

// fields are those of an object, in their order.
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

// list are the items of a list.
func (n node) list() (items []node) {
	l, _ := n.value.([]any)
	for _, v := range l {
		items = append(items, node{v})
	}
	return items
}

// text is a value as text; "" where there is none.
func (n node) text() string {
	if n.value == nil {
		return ""
	}
	return fmt.Sprint(n.value)
}

func (n node) there() bool { return n.value != nil }

// follow is what a reference leads to; a node that is none is itself.
func (n node) follow(root node) node {
	if ref := n.get("$ref").text(); ref != "" {
		return root.get(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).follow(root)
	}
	return n
}

// words are a node's own description, or that of what it leads to.
func (n node) words(root node) string {
	if own := n.get("description").text(); own != "" {
		return own
	}
	return n.follow(root).get("description").text()
}
