package source

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/url"
	"strconv"
	"strings"

	"github.com/waitroom/waitroom/sms"
)

// fields are a body's fields: JSON, or a form as an object of texts.
type fields struct{ root any }

// readFields parses a body by its content type, or else by its first character. The error is sms.FaultBody.
func readFields(r sms.Request) (fields, error) {
	if isForm(r) {
		form, err := url.ParseQuery(string(r.Body))
		if err != nil || len(form) == 0 {
			return fields{}, sms.FaultBody
		}
		root := make(map[string]any, len(form))
		for name, values := range form {
			root[name] = values[0]
		}
		return fields{root}, nil
	}
	var root any
	body := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(r.Body, []byte("\uFEFF"))))
	body.UseNumber() // keeps numbers as written
	if body.Decode(&root) != nil {
		return fields{}, sms.FaultBody
	}
	if _, err := body.Token(); err != io.EOF {
		return fields{}, sms.FaultBody
	}
	return fields{root}, nil
}

func isForm(r sms.Request) bool {
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case "application/x-www-form-urlencoded":
		return true
	case "application/json":
		return false
	}
	body := bytes.TrimLeft(r.Body, " \t\r\n\uFEFF")
	return len(body) > 0 && body[0] != '{' && body[0] != '['
}

// text returns the value at a path such as payload.message or results.0.text; "" if there is no text or
// number.
func (f fields) text(path string) string {
	switch v := at(f.root, path).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// is reports whether the value at a path is true.
func (f fields) is(path string) bool { return at(f.root, path) == true }

func at(value any, path string) any {
	switch v := value.(type) {
	case map[string]any:
		if found, ok := v[path]; ok { // also for a name with a dot
			return found
		}
		if first, rest, more := strings.Cut(path, "."); more {
			return at(v[first], rest)
		}
	case []any:
		first, rest, more := strings.Cut(path, ".")
		i, err := strconv.Atoi(first)
		if err != nil || i < 0 || i >= len(v) {
			return nil
		}
		if !more {
			return v[i]
		}
		return at(v[i], rest)
	}
	return nil
}
