package describetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Frame returns what is wrong with a text frame of the socket at a path; nil for a correct one.
func (r *Recorder) Frame(path string, text []byte) error {
	i := slices.IndexFunc(r.channels, func(c channel) bool {
		return c.address != nil && matches(c.address, path) && c.parameters() == 0
	})
	if i < 0 {
		i = slices.IndexFunc(r.channels, func(c channel) bool {
			return c.address != nil && matches(c.address, path)
		})
	}
	if i < 0 {
		return fmt.Errorf("no socket is described at %s", path)
	}
	return r.sent(r.channels[i], nil, text)
}

// Webhook returns what is wrong with a webhook; nil for a correct one.
func (r *Recorder) Webhook(header http.Header, body []byte) error {
	i := slices.IndexFunc(r.channels, func(c channel) bool { return c.address == nil })
	if i < 0 {
		return fmt.Errorf("no webhook is described")
	}
	return r.sent(r.channels[i], header, body)
}

func (r *Recorder) sent(c channel, header http.Header, text []byte) error {
	var of struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return fmt.Errorf("%s sends no JSON object: %w", c.name, err)
	}
	m, ok := c.messages[of.Type]
	if !ok {
		return fmt.Errorf("%s sends %q, which is not described\n%.1000s", c.name, of.Type, text)
	}
	if err := validate(m.payload, text); err != nil {
		return fmt.Errorf("%s, which is not as described: %w\n%.1000s", m.name, err, text)
	}
	if m.headers != nil {
		if err := m.headers.Validate(flat(header)); err != nil {
			return fmt.Errorf("%s has headers that are not as described: %w", m.name, err)
		}
	}
	r.note(m.name)
	return nil
}

func (c channel) parameters() int { return pathItem{parts: c.address}.parameters() }

// flat returns headers as an object, by their names in small letters.
func flat(header http.Header) map[string]any {
	object := map[string]any{}
	for name := range header {
		object[strings.ToLower(name)] = header.Get(name)
	}
	return object
}
