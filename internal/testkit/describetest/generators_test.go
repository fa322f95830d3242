package describetest

import (
	"fmt"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// Generators of code take one type a schema, and want to be told that of a constant.
func TestSchemasAreWrittenAsGeneratorsOfCodeTakeThem(t *testing.T) {
	openAPI, asyncAPI := documents(t)
	for name, text := range map[string][]byte{"openapi.yaml": openAPI, "asyncapi.yaml": asyncAPI} {
		d, err := readDocument(name, text, jsonschema.Draft2020)
		require.NoError(t, err)
		require.Empty(t, hard(name, d.root))
	}
}

// hard are the places of a document that generators refuse. What is said by if is a condition, and no type of its own.
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
