package describetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// parameter is a parameter of a query or a header.
type parameter struct {
	name, in string
	needed   bool
	kind     string // of its schema: how its text is read
	schema   *jsonschema.Schema
}

// readRequest reads the parameters and body of an operation.
func (d *document) readRequest(op *operation, path, described any,
	later map[string]func(*jsonschema.Schema)) error {
	ofPath, _ := at(path)["parameters"].([]any)
	own, _ := at(described)["parameters"].([]any)
	given := append(slices.Clone(ofPath), own...)
	op.parameters = make([]parameter, len(given))
	for i, one := range given {
		described, err := d.resolve(one)
		if err != nil {
			return err
		}
		schema, err := d.resolve(described["schema"])
		if err != nil {
			return err
		}
		p := &op.parameters[i]
		p.name, _ = described["name"].(string)
		p.in, _ = described["in"].(string)
		p.needed, _ = described["required"].(bool)
		p.kind, _ = schema["type"].(string)
		later[d.schema(described["schema"])] = func(s *jsonschema.Schema) { p.schema = s }
	}
	body := at(described, "requestBody")
	op.bodyNeeded, _ = body["required"].(bool)
	if media := at(body, "content", "application/json"); media != nil {
		later[d.schema(media["schema"])] = func(s *jsonschema.Schema) { op.body = s }
	}
	return nil
}

// Request returns why the description refuses a request of an operation; nil if it accepts
// it. It does not check paths.
func (r *Recorder) Request(id string, query url.Values, header http.Header, body []byte) error {
	for _, item := range r.items {
		for _, op := range item.operations {
			if op.id == id {
				return op.request(query, header, body)
			}
		}
	}
	return fmt.Errorf("there is no operation %s", id)
}

func (o *operation) request(query url.Values, header http.Header, body []byte) error {
	for _, p := range o.parameters {
		var texts []string
		switch p.in {
		case "query":
			texts = query[p.name]
		case "header":
			texts = header.Values(p.name)
		default:
			continue
		}
		if len(texts) == 0 && p.needed {
			return fmt.Errorf("%s is missing", p.name)
		}
		for _, text := range texts {
			if err := p.schema.Validate(p.value(text)); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	if len(body) == 0 || o.body == nil {
		if o.bodyNeeded {
			return fmt.Errorf("the body is missing")
		}
		return nil
	}
	return validate(o.body, body)
}

// value returns a parameter's text in its schema's type; an unreadable text stays text,
// which such a schema refuses.
func (p parameter) value(text string) any {
	if p.kind != "string" {
		if v, err := jsonschema.UnmarshalJSON(strings.NewReader(text)); err == nil {
			return v
		}
	}
	return text
}
