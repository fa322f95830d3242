// Package describe holds the descriptions of the API: OpenAPI for HTTP, AsyncAPI for the sockets and the
// webhooks. Tests check every answer and every frame against them.
package describe

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the documents
	"encoding/hex"
	"net/http"
	"time"
)

var (
	//go:embed openapi.yaml
	openAPI []byte
	//go:embed asyncapi.yaml
	asyncAPI []byte
)

// OpenAPI describes the HTTP API, as YAML.
func OpenAPI() []byte { return bytes.Clone(openAPI) }

// AsyncAPI describes the sockets and the webhooks, as YAML.
func AsyncAPI() []byte { return bytes.Clone(asyncAPI) }

// Handlers serve the documents, by their paths.
func Handlers() map[string]http.Handler {
	return map[string]http.Handler{"/openapi.yaml": document(openAPI), "/asyncapi.yaml": document(asyncAPI)}
}

// document serves a document with an ETag. Pages of any origin may read it, as editors and client generators
// do.
func document(text []byte) http.Handler {
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", "application/yaml")
		header.Set("Cache-Control", "no-cache")
		header.Set("ETag", tag)
		header.Set("Access-Control-Allow-Origin", "*")
		header.Set("Cross-Origin-Resource-Policy", "cross-origin")
		r.Header.Del("Range") // thousands of ranges in one header would cost much
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
	})
}
