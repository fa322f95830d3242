package describetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// Code generators take one type a schema, and need that of a constant, too.
func TestSchemasAreWrittenAsGeneratorsOfCodeTakeThem(t *testing.T) {
	openAPI, asyncAPI := documents(t)
	for name, text := range map[string][]byte{"openapi.yaml": openAPI, "asyncapi.yaml": asyncAPI} {
		d, err := readDocument(name, text, jsonschema.Draft2020)
		require.NoError(t, err)
		require.Empty(t, hard(name, d.root))
	}
}

// hard returns the places of a document that code generators refuse. A schema under `if` is a condition and
// not a type.
func hard(at string, node any) (found []string) {
	switch n := node.(type) {
	case []any:
		for i, item := range n {
			found = append(found, hard(fmt.Sprint(at, "/", i), item)...)
		}
	case map[string]any:
		if _, several := n["type"].([]any); several {
			found = append(found, at+": several types")
		}
		if _, preset := n["default"]; preset && strings.Contains(at, "/properties/") {
			found = append(found, at+": a property with a default, which openapi-typescript requires in a request")
		}
		if _, constant := n["const"]; constant && n["type"] == nil {
			found = append(found, at+": a constant without a type")
		}
		for name, value := range n {
			if name != "if" {
				found = append(found, hard(at+"/"+name, value)...)
			}
		}
	}
	return found
}
