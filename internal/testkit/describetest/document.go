// Package describetest tests a server against its descriptions: each HTTP answer against OpenAPI, each frame
// and webhook against AsyncAPI. An undescribed field is a fault, and so is a described one that is missing.
package describetest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// checks is the part of the document into which all used schemas are copied, so that each has a plain
// address.
const checks = "x-checks"

// document is a description, and its schemas in one dialect.
type document struct {
	url      string
	root     map[string]any
	compiler *jsonschema.Compiler
	pending  map[string]any
}

func readDocument(url string, text []byte, dialect *jsonschema.Draft) (*document, error) {
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	d := &document{url: url, compiler: jsonschema.NewCompiler(), pending: map[string]any{}}
	d.root, _ = root.(map[string]any)
	d.compiler.DefaultDraft(dialect)
	d.compiler.AssertFormat()
	return d, nil
}

// resolve follows references within the document. Fields beside a reference overrule its target's, as a
// response's description does.
func (d *document) resolve(node any) (map[string]any, error) {
	m, _ := node.(map[string]any)
	ref, ok := m["$ref"].(string)
	if !ok {
		return m, nil
	}
	var at any = d.root
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		in, ok := at.(map[string]any)
		if !ok || in[part] == nil {
			return nil, fmt.Errorf("%s: %s leads nowhere", d.url, ref)
		}
		at = in[part]
	}
	found, err := d.resolve(at)
	if err != nil {
		return nil, err
	}
	merged := map[string]any{}
	for _, from := range []map[string]any{found, m} {
		for k, v := range from {
			merged[k] = v
		}
	}
	delete(merged, "$ref")
	return merged, nil
}

// schema registers a schema to be compiled later, and returns its name until then.
func (d *document) schema(node any) string {
	name := strconv.Itoa(len(d.pending))
	d.pending[name] = node
	return name
}

// compile compiles all of them, by their names.
func (d *document) compile() (map[string]*jsonschema.Schema, error) {
	d.root[checks] = d.pending
	if err := d.compiler.AddResource(d.url, d.root); err != nil {
		return nil, fmt.Errorf("%s: %w", d.url, err)
	}
	compiled := make(map[string]*jsonschema.Schema, len(d.pending))
	for name := range d.pending {
		s, err := d.compiler.Compile(d.url + "#/" + checks + "/" + name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.url, err)
		}
		compiled[name] = s
	}
	return compiled, nil
}

// at returns the value under keys, as an object; nil if there is none.
func at(node any, keys ...string) map[string]any {
	for _, key := range keys {
		m, _ := node.(map[string]any)
		node = m[key]
	}
	m, _ := node.(map[string]any)
	return m
}
