package describetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// answer is one status of an operation.
type answer struct {
	content map[string]*jsonschema.Schema // by media type; empty: there is no body
	headers []string                      // that it must have
	codes   []string                      // the problems that are named beside it
}

// operation is a method of a path.
type operation struct {
	id         string
	answers    map[string]answer // by status
	parameters []parameter
	body       *jsonschema.Schema // nil where it takes none
	bodyNeeded bool
}

// pathItem is a described path.
type pathItem struct {
	parts      []string
	operations map[string]*operation // by method
}

// methods are the methods that a path of OpenAPI can describe.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// readOpenAPI reads the described paths, those without a parameter first.
func readOpenAPI(text []byte) ([]pathItem, error) {
	d, err := readDocument("openapi.yaml", text, jsonschema.Draft2020)
	if err != nil {
		return nil, err
	}
	asked, err := readDocument("openapi.yaml", text, jsonschema.Draft2020) // a request may have other fields
	if err != nil {
		return nil, err
	}
	shut(d.root["components"])
	shut(d.root["paths"])
	var items []pathItem
	later := map[*document]map[string]func(*jsonschema.Schema){d: {}, asked: {}} // by the schema's name
	for path, node := range at(d.root, "paths") {
		item := pathItem{parts: strings.Split(path, "/"), operations: map[string]*operation{}}
		for _, method := range methods {
			described := at(node, method)
			if described == nil {
				continue
			}
			id, _ := described["operationId"].(string)
			if id == "" {
				return nil, fmt.Errorf("%s %s has no operationId", method, path)
			}
			op := &operation{id: id, answers: map[string]answer{}}
			for status, response := range at(described, "responses") {
				r, err := d.resolve(response)
				if err != nil {
					return nil, err
				}
				a := answer{content: map[string]*jsonschema.Schema{}, headers: requiredHeaders(r), codes: quotedWords(r)}
				for kind, media := range at(r, "content") {
					later[d][d.schema(at(media, "schema"))] = func(s *jsonschema.Schema) { a.content[kind] = s }
				}
				op.answers[status] = a
			}
			open := at(asked.root, "paths", path)
			if err := asked.readRequest(op, open, open[method], later[asked]); err != nil {
				return nil, err
			}
			item.operations[strings.ToUpper(method)] = op
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b pathItem) int { return a.parameters() - b.parameters() })
	for _, d := range []*document{d, asked} {
		compiled, err := d.compile()
		if err != nil {
			return nil, err
		}
		for name, set := range later[d] {
			set(compiled[name])
		}
	}
	return items, nil
}

// shut makes every object accept only the described fields. The document itself allows others, since a client
// made from it has to accept the fields of later versions.
func shut(node any) {
	switch n := node.(type) {
	case []any:
		for _, one := range n {
			shut(one)
		}
	case map[string]any:
		for _, one := range n {
			shut(one)
		}
		if n["properties"] != nil && n["additionalProperties"] == nil {
			n["additionalProperties"] = false
		}
	}
}

func requiredHeaders(response map[string]any) (names []string) {
	for name, header := range at(response, "headers") {
		if at(header)["required"] == true {
			names = append(names, name)
		}
	}
	return names
}

var quoted = regexp.MustCompile("`([a-z_]+)`")

// quotedWords returns the codes that a response's description names.
func quotedWords(response map[string]any) (words []string) {
	text, _ := response["description"].(string)
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		words = append(words, m[1])
	}
	return words
}

func (p pathItem) parameters() (n int) {
	for _, part := range p.parts {
		if isParameter(part) {
			n++
		}
	}
	return n
}

func isParameter(part string) bool { return strings.HasPrefix(part, "{") }

// reserved is a room's name in paths that belong to support.
const reserved = "support"

// matches reports whether a path is one of these.
func (p pathItem) matches(path string) bool { return matches(p.parts, path) }

func matches(parts []string, path string) bool {
	given := strings.Split(path, "/")
	return slices.EqualFunc(parts, given, func(described, given string) bool {
		return described == given || isParameter(described) && given != "" && given != reserved
	})
}
