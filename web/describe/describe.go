// Package describe holds the descriptions of what programs ask and are told: OpenAPI for HTTP, AsyncAPI for the sockets and the
// webhooks. Tests hold every answer and every frame to them.
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

// document serves one. Who has it already is told so by its ETag. Nothing in it is secret: the pages of any origin may read it, as
// editors and generators of clients do.
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
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
	})
}
