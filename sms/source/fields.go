package source

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/korean"

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
		return fieldsOf(form, decoder(r)), nil
	}
	root, ok := readJSON([]byte(decoder(r)(string(r.Body))))
	if !ok {
		return fields{}, sms.FaultBody
	}
	return fields{root}, nil
}

// readForm parses a form, URL-encoded or multipart.
func readForm(r sms.Request) (url.Values, error) {
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != multipartForm {
		return parseForm(string(r.Body)), nil
	}
	form, err := multipart.NewReader(bytes.NewReader(r.Body), params["boundary"]).ReadForm(int64(len(r.Body)))
	if err != nil {
		return nil, err
	}
	return form.Value, nil
}

// parseForm parses a URL-encoded form. Programs that paste a text into a pattern leave a percent sign or a
// semicolon in it as it is, so what is no escape is kept.
func parseForm(text string) url.Values {
	form := make(url.Values)
	if !strings.Contains(text, "=") {
		return nil // no form
	}
	for pair := range strings.SplitSeq(text, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		form.Add(unescapedPart(name), unescapedPart(value))
	}
	return form
}

// noEscape matches a percent sign that begins no escape.
var noEscape = regexp.MustCompile(`%(?:[^0-9A-Fa-f]|[0-9A-Fa-f][^0-9A-Fa-f]|[0-9A-Fa-f]?$)`)

func unescapedPart(text string) string {
	for noEscape.MatchString(text) {
		text = noEscape.ReplaceAllStringFunc(text, func(found string) string { return "%25" + found[1:] })
	}
	plain, err := url.QueryUnescape(text)
	if err != nil {
		return text
	}
	return plain
}

// decoder returns what makes UTF-8 of a request's texts: of EUC-KR and its superset CP949, where the type of
// the content says so. Some Korean programs still write them.
func decoder(r sms.Request) func(string) string {
	_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch strings.ToLower(params["charset"]) {
	case "euc-kr", "euckr", "cp949", "ms949", "ks_c_5601-1987", "windows-949", "x-windows-949":
		return func(text string) string {
			plain, err := korean.EUCKR.NewDecoder().String(text)
			if err != nil {
				return text
			}
			return plain
		}
	}
	return func(text string) string { return text }
}

func fieldsOf(form url.Values, plain func(string) string) fields {
	root := make(map[string]any, len(form))
	for name, values := range form {
		if len(values) == 1 {
			root[name] = plain(values[0])
			continue
		}
		list := make([]any, len(values))
		for i, value := range values {
			list[i] = plain(value)
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

// isForm reports whether a body is a form. JSON is JSON also where a program gives it the type of a form, as
// curl and many apps do by default.
func isForm(r sms.Request) bool {
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case multipartForm:
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

// list returns the array at a path, "." for the whole body; false if there is none.
func (f fields) list(path string) ([]any, bool) {
	if path == "." {
		list, ok := f.root.([]any)
		return list, ok
	}
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
