package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/sms"
)

// evidence is a request as signatures cover it. Fields and forms are read when a part needs them.
type evidence struct {
	request sms.Request
	address string // as the sender calls it
	without string // field that the signature itself is in
	body    *fields
}

// placeholder matches a part in what is signed: {body}, {header X-Nonce}.
var placeholder = regexp.MustCompile(`\{[a-z]+(?: [^{}]+)?\}`)

// partNames are the parts that need no name.
var partNames = []string{"body", "url", "address", "params", "pairs", "secret"}

// validParts returns an error for an unknown part of a text such as {url}{params}.
func validParts(signed string) error {
	for _, found := range placeholder.FindAllString(signed, -1) {
		kind, name, named := strings.Cut(found[1:len(found)-1], " ")
		if named && name != "" && (kind == "header" || kind == "field") ||
			!named && slices.Contains(partNames, kind) {
			continue
		}
		return fmt.Errorf("signed has an unknown part: want of {%s}, {header NAME} and {field NAME}",
			strings.Join(partNames, "}, {"))
	}
	if rest := placeholder.ReplaceAllString(signed, ""); strings.ContainsAny(rest, "{}") {
		return errors.New("signed has a brace that begins or ends no part")
	}
	return nil
}

// fill returns what is signed, with the parts of the request in place of their names.
func (e *evidence) fill(signed string, key []byte) (text string, err error) {
	text = placeholder.ReplaceAllStringFunc(signed, func(found string) string {
		name := found[1 : len(found)-1]
		if name == "secret" {
			return string(key)
		}
		part, fault := e.part(name)
		if fault != nil {
			err = fault
		}
		return part
	})
	return text, err
}

// part returns a part of the request by its name, without braces.
func (e *evidence) part(name string) (string, error) {
	kind, of, _ := strings.Cut(name, " ")
	switch kind {
	case "body":
		return string(e.request.Body), nil
	case "url":
		return e.address, nil
	case "address":
		address, _, _ := strings.Cut(e.address, "?")
		return address, nil
	case "header":
		return e.request.Header.Get(of), nil
	}
	if kind == "params" {
		form, err := readForm(e.request)
		if err != nil {
			return "", refused("the body is no form")
		}
		return params(form), nil
	}
	f, err := e.fields()
	if err != nil {
		return "", err
	}
	if kind == "pairs" {
		return pairs(f, e.without), nil
	}
	return f.text(of), nil
}

func (e *evidence) fields() (fields, error) {
	if e.body == nil {
		f, err := readFields(e.request)
		if err != nil {
			return fields{}, refused("the body can not be read, and what is signed is in it")
		}
		e.body = &f
	}
	return *e.body, nil
}

// params returns a form's names and values, sorted and one after the other.
func params(form url.Values) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(form)) {
		values := slices.Clone(form[name])
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			b.WriteString(name + value)
		}
	}
	return b.String()
}

// pairs returns the fields of a body as &name=value, sorted, without one of them. & and = of a value become
// underscores.
func pairs(f fields, without string) string {
	root, _ := f.root.(map[string]any)
	plain := strings.NewReplacer("&", "_", "=", "_")
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(root)) {
		if name == without {
			continue
		}
		value := fields{root}.text(name)
		if object, ok := root[name].(map[string]any); ok {
			text, _ := json.Marshal(object) // it was parsed from JSON
			value = string(text)
		}
		b.WriteString("&" + name + "=" + plain.Replace(value))
	}
	return b.String()
}

// addresses returns a URL with and without its scheme's default port: Twilio signs either.
func addresses(address string) []string {
	scheme, rest, _ := strings.Cut(address, "://")
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	plain := strings.TrimSuffix(host, port)
	if host == plain && strings.Contains(host[strings.LastIndexByte(host, ']')+1:], ":") {
		return []string{address} // another port
	}
	return []string{scheme + "://" + plain + path, scheme + "://" + plain + port + path}
}

func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "this path"
	}
	return u.Path
}
