package source

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"

	"github.com/waitroom/waitroom/sms"
)

// fields are a body's fields: JSON, or a form as an object of texts. A form's name with several values is an
// array.
type fields struct{ root any }

// readFields parses a body by its content type, or else by its first character. The error is sms.FaultBody.
func readFields(r sms.Request) (fields, error) {
	if isForm(r) {
		form, err := readForm(r)
		if err != nil || len(form) == 0 {
			return fields{}, sms.FaultBody
		}
		return fieldsOf(form), nil
	}
	root, ok := readJSON(r.Body)
	if !ok {
		return fields{}, sms.FaultBody
	}
	return fields{root}, nil
}

// readForm parses a form, URL-encoded or multipart.
func readForm(r sms.Request) (url.Values, error) {
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != multipartForm {
		return url.ParseQuery(string(r.Body))
	}
	form, err := multipart.NewReader(bytes.NewReader(r.Body), params["boundary"]).ReadForm(int64(len(r.Body)))
	if err != nil {
		return nil, err
	}
	return form.Value, nil
}

func fieldsOf(form url.Values) fields {
	root := make(map[string]any, len(form))
	for name, values := range form {
		if len(values) == 1 {
			root[name] = values[0]
			continue
		}
		list := make([]any, len(values))
		for i, value := range values {
			list[i] = value
		}
		root[name] = list
	}
	return fields{root}
}

// readJSON parses one value; numbers stay as they are written.
func readJSON(text []byte) (value any, ok bool) {
	body := json.NewDecoder(bytes.NewReader(escaped(bytes.TrimPrefix(text, []byte("\uFEFF")))))
	body.UseNumber()
	if body.Decode(&value) != nil {
		return nil, false
	}
	_, err := body.Token()
	return value, err == io.EOF
}

// escaped returns JSON with escapes for line breaks and tabs inside its strings. Programs that paste a text
// into a pattern of JSON leave them as they are.
func escaped(text []byte) []byte {
	if !bytes.ContainsAny(text, "\n\r\t") {
		return text
	}
	escapes := map[byte]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}
	out := make([]byte, 0, len(text)+16)
	inside, after := false, false // inside a string; after a backslash
	for _, c := range text {
		if escape, raw := escapes[c]; inside && !after && raw {
			out = append(out, escape...)
			continue
		}
		if c == '"' && !after {
			inside = !inside
		}
		after = inside && c == '\\' && !after
		out = append(out, c)
	}
	return out
}

const (
	urlForm       = "application/x-www-form-urlencoded"
	multipartForm = "multipart/form-data"
)

func isForm(r sms.Request) bool {
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case urlForm, multipartForm:
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
	switch v := f.at(path).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// list returns the array at a path; false if there is none.
func (f fields) list(path string) ([]any, bool) {
	list, ok := f.at(path).([]any)
	return list, ok
}

// at returns the value at a path, nil for none.
func (f fields) at(path string) any {
	value, _ := at(f.root, path)
	return value
}

// single reports whether no array of several elements is on a path.
func (f fields) single(path string) bool {
	_, several := at(f.root, path)
	return !several
}

// at returns the value at a path, and whether an array on the path has several elements. A path may go on
// inside a text that is JSON itself.
func at(value any, path string) (found any, several bool) {
	first, rest, more := strings.Cut(path, ".")
	switch v := value.(type) {
	case map[string]any:
		if whole, ok := v[path]; ok { // also for a name with a dot
			list, isList := whole.([]any)
			return whole, isList && len(list) > 1
		}
		if more {
			return at(v[first], rest)
		}
	case []any:
		i, err := strconv.Atoi(first)
		if err != nil || i < 0 || i >= len(v) {
			return nil, len(v) > 1
		}
		if !more {
			return v[i], len(v) > 1
		}
		found, several = at(v[i], rest)
		return found, several || len(v) > 1
	case string:
		if !strings.HasPrefix(strings.TrimSpace(v), "{") {
			return nil, false
		}
		if inner, ok := readJSON([]byte(v)); ok {
			return at(inner, path)
		}
	}
	return nil, false
}
