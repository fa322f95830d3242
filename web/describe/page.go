package describe

import (
	"slices"
	"strings"
	"sync"

	"github.com/waitroom/waitroom/templates"
)

// page is built once and not changed.
var page = sync.OnceValue(func() templates.DocsView {
	open, async := readNode(openAPI), readNode(asyncAPI)
	return templates.DocsView{Groups: groups(open), Channels: channels(async),
		Schemas: append(schemas(open, node{}), schemas(async, open)...)}
})

// Page returns the view of both documents. The caller adds language, files and problems.
func Page() templates.DocsView { return page() }

// groups returns the operations by tag, in the order of the tags.
func groups(root node) (list []templates.DocsGroup) {
	for _, tag := range root.get("tags").list() {
		g := templates.DocsGroup{Name: tag.get("name").text(), Words: tag.get("description").text()}
		for path, item := range root.get("paths").fields() {
			for method, op := range item.fields() {
				tags := op.get("tags").list()
				if len(tags) > 0 && tags[0].text() == g.Name {
					g.Operations = append(g.Operations, operation(root, path, method, item, op))
				}
			}
		}
		list = append(list, g)
	}
	return list
}

func operation(root node, path, method string, item, op node) templates.DocsOperation {
	o := templates.DocsOperation{ID: op.get("operationId").text(), Method: strings.ToUpper(method), Path: path,
		Summary: op.get("summary").text(),
		Words:   op.get("description").text()}
	for _, given := range append(item.get("parameters").list(), op.get("parameters").list()...) {
		p := given.follow(root)
		o.Parameters = append(o.Parameters, templates.DocsField{Name: p.get("name").text(), Words: p.words(root),
			Type:     typeOf(p.get("schema")),
			Required: p.get("required").text() == "true"})
	}
	for _, media := range op.get("requestBody", "content").fields() {
		o.Body = typeOf(media.get("schema"))
	}
	for status, given := range op.get("responses").fields() {
		a := templates.DocsAnswer{Status: status, Words: given.words(root)}
		for kind, media := range given.follow(root).get("content").fields() {
			a.Type = alternatives(a.Type, typeOf(media.get("schema")), kind)
		}
		o.Answers = append(o.Answers, a)
	}
	return o
}

// alternatives adds another form of an answer. A text's type is its media type.
func alternatives(to, also templates.DocsType, kind string) templates.DocsType {
	if !strings.HasSuffix(kind, "json") {
		also = plain(kind)
	}
	if len(to) > 0 {
		to = append(to, plain(" | ")...)
	}
	return append(to, also...)
}

func channels(root node) (list []templates.DocsChannel) {
	clients := map[string]bool{}
	for _, op := range root.get("operations").fields() {
		if op.get("action").text() == "receive" {
			for _, m := range op.get("messages").list() {
				clients[m.get("$ref").text()] = true
			}
		}
	}
	for name, c := range root.get("channels").fields() {
		one := templates.DocsChannel{Name: name, Address: c.get("address").text(), Title: c.get("title").text(),
			Words: c.get("description").text()}
		for key, given := range c.get("messages").fields() {
			m := given.follow(root)
			one.Messages = append(one.Messages, templates.DocsMessage{Words: m.get("summary").text(),
				Type:   typeOf(m.get("payload")),
				Client: clients["#/channels/"+name+"/messages/"+key]})
		}
		list = append(list, one)
	}
	return list
}

// schemas returns the schemas of root that other lacks.
func schemas(root, other node) (list []templates.DocsSchema) {
	for name, s := range root.get("components", "schemas").fields() {
		if !other.get("components", "schemas", name).there() {
			list = append(list, templates.DocsSchema{Name: name, Words: s.get("description").text(), Type: typeOf(s),
				Fields: fields(s, "")})
		}
	}
	return list
}

// fields returns an object's fields and, below each, those of nested objects.
func fields(s node, prefix string) (list []templates.DocsField) {
	var required []string
	for _, name := range s.get("required").list() {
		required = append(required, name.text())
	}
	for name, f := range s.get("properties").fields() {
		list = append(list, templates.DocsField{Name: prefix + name, Words: f.get("description").text(),
			Type:     typeOf(f),
			Required: slices.Contains(required, name)})
		list = append(list, fields(f, prefix+name+".")...)
		list = append(list, fields(f.get("items"), prefix+name+"[].")...)
	}
	for _, one := range s.get("oneOf").list() {
		list = append(list, fields(one, prefix)...)
	}
	return list
}
