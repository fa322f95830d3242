// Package request reads requests: bodies, client addresses, languages, and which part of the site they are
// about.
package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/web/problem"
)

// MaxBody is how many bytes a request may bring.
const MaxBody = 16 << 10

// byteOrderMark is what some programs begin a text with.
var byteOrderMark = []byte("\uFEFF")

// Body reads the whole body. Refusals: body_too_large, and invalid_json for one that broke off.
func Body(c *gin.Context) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, problem.Refusal("body_too_large")
	}
	if err != nil {
		return nil, problem.Refusal("invalid_json")
	}
	return body, nil
}

// Decode reads one JSON object, or null as nil. Members count that are named exactly as T's fields:
// encoding/json takes SELLER_ID for seller_id too, so Decode leaves the others out.
func Decode[T any](text []byte) (body *T, err error) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	if bytes.IndexFunc(text, misnames) < 0 {
		err = json.Unmarshal(text, &body)
		return body, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	fields := make(map[string]bool)
	for field := range reflect.TypeFor[T]().Fields() {
		fields[field.Tag.Get("json")] = true
	}
	given := len(members)
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return !fields[name] })
	if len(members) < given {
		if text, err = json.Marshal(members); err != nil {
			return nil, err
		}
	}
	err = json.Unmarshal(text, &body)
	return body, err
}

// misnames is true for runes that a name is written with that encoding/json takes for another. Without any,
// all names are exact.
func misnames(r rune) bool { return 'A' <= r && r <= 'Z' || r == '\\' || r >= utf8.RuneSelf }

// IsJSON reports whether the body is declared to be JSON.
func IsJSON(c *gin.Context) bool {
	kind, _, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	return err == nil && kind == "application/json"
}

// MaxSafe is the largest integer that Redis's scripts, and browsers, count to without a gap.
const MaxSafe = 1 << 53

// KeyHeader names the header by which a client repeats a request; MaxKey is how many characters its value may
// have.
const (
	KeyHeader = "Idempotency-Key"
	MaxKey    = 64
)
