package web

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
)

// maxBody is how much a request may bring.
const maxBody = 16 << 10

// byteOrderMark is what some programs begin a text with.
var byteOrderMark = []byte("\uFEFF")

// lockBody is the body of a request about the lock. Other fields are ignored.
type lockBody struct {
	Seller  string `json:"seller_id"`
	Session string `json:"session_id"`
	Asks    bool   `json:"asks"`
}

// readBody reads the whole body. Refusals: body_too_large, and invalid_json for one that broke off.
func readBody(c *gin.Context) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, Refusal("body_too_large")
	}
	if err != nil {
		return nil, Refusal("invalid_json")
	}
	return body, nil
}

// readLock reads the body of a join.
func readLock(c *gin.Context) (lockBody, error) {
	if !isJSON(c) {
		return lockBody{}, Refusal("unsupported_media_type")
	}
	body, err := readBody(c)
	if err != nil {
		return lockBody{}, err
	}
	return parseLock(body)
}

// readOptionalLock reads the body of a DELETE, which need not have one.
func readOptionalLock(c *gin.Context) (lockBody, error) {
	body, err := readBody(c)
	if err != nil || len(body) == 0 {
		return lockBody{}, err
	}
	if !isJSON(c) {
		return lockBody{}, Refusal("unsupported_media_type")
	}
	return parseLock(body)
}

// decode reads one JSON object, or null as nil. Of its members those count that are named exactly as T's fields; encoding/json takes SELLER_ID for
// seller_id too, so the others are left out where there are any.
func decode[T any](text []byte) (body *T, err error) {
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

// misnames is true for what a name is written with that encoding/json takes for another: where there is none, all names are exact.
func misnames(r rune) bool { return 'A' <= r && r <= 'Z' || r == '\\' || r >= utf8.RuneSelf }

// parseLock wants exactly one JSON object. A field that is no string is refused by its own code.
func parseLock(text []byte) (lockBody, error) {
	body, err := decode[lockBody](text)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		switch wrong.Field {
		case "seller_id":
			return lockBody{}, Refusal("invalid_seller")
		case "session_id":
			return lockBody{}, Refusal("invalid_session")
		}
	}
	if err != nil || body == nil {
		return lockBody{}, Refusal("invalid_json")
	}
	return *body, nil
}

func isJSON(c *gin.Context) bool {
	kind, _, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	return err == nil && kind == "application/json"
}
