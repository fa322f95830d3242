// Package request reads requests: bodies, client addresses, languages, and their part of the site.
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

// MaxBody is the maximum size of a request's body in bytes.
const MaxBody = 16 << 10

// byteOrderMark is the prefix that some programs add to a text.
var byteOrderMark = []byte("\uFEFF")

// Body reads the whole body. Refusals: body_too_large, and invalid_json for a truncated one.
func Body(c *gin.Context) ([]byte, error) { return BodyUpTo(c, MaxBody) }

// BodyUpTo is Body for another maximum size, in bytes.
func BodyUpTo(c *gin.Context, most int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, most))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, problem.Refusal("body_too_large")
	}
	if err != nil {
		return nil, problem.Refusal("invalid_json")
	}
	return body, nil
}

// Decode reads one JSON object, or null as nil. It matches field names exactly: encoding/json alone would
// accept SELLER_ID for seller_id.
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

// misnames reports whether a rune can make encoding/json match another name. Without any, all names are
// exact.
func misnames(r rune) bool { return 'A' <= r && r <= 'Z' || r == '\\' || r >= utf8.RuneSelf }

// IsJSON reports whether the body is declared to be JSON.
func IsJSON(c *gin.Context) bool {
	kind, _, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	return err == nil && kind == "application/json"
}

// MaxSafe is the largest integer that Redis's scripts and browsers represent exactly.
const MaxSafe = 1 << 53

// KeyHeader is the header that identifies a repeated request; MaxKey is the maximum length of its value in
// characters.
const (
	KeyHeader = "Idempotency-Key"
	MaxKey    = 64
)
