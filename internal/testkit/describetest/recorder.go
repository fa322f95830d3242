package describetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Recorder tests answers, frames and webhooks against the descriptions, and records which
// parts of them it has seen.
type Recorder struct {
	items    []pathItem
	channels []channel

	mu   sync.Mutex
	seen map[string]bool
}

// New reads the two documents, in YAML. It fails where a reference leads nowhere or a schema is invalid.
func New(openAPI, asyncAPI []byte) (*Recorder, error) {
	items, err := readOpenAPI(openAPI)
	if err != nil {
		return nil, err
	}
	channels, err := readAsyncAPI(asyncAPI)
	return &Recorder{items: items, channels: channels, seen: map[string]bool{}}, err
}

// Answer returns what is wrong with an answer; nil for a correct one, and for a path outside the API.
func (r *Recorder) Answer(method, path string, status int, header http.Header, body []byte) error {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	err := r.answer(method, path, status, header, body)
	if err != nil {
		return fmt.Errorf("%s %s answers %d, which is not as described: %w\n%.1000s", method, path, status, err,
			body)
	}
	return nil
}

func (r *Recorder) answer(method, path string, status int, header http.Header, body []byte) error {
	i := slices.IndexFunc(r.items, func(p pathItem) bool { return p.matches(path) })
	if i < 0 {
		if !strings.HasPrefix(path, "/api/") {
			return nil
		}
		return r.stray(status, header, body)
	}
	op, ok := r.items[i].operations[method]
	if !ok {
		return r.stray(status, header, body)
	}
	if p, err := problemOf(body); err == nil && p.Code == notServed {
		return r.stray(status, header, body)
	}
	a, ok := op.answers[strconv.Itoa(status)]
	if !ok {
		return fmt.Errorf("%s has no such status", op.id)
	}
	if err := a.check(header, body); err != nil {
		return err
	}
	r.note(op.id + " " + strconv.Itoa(status))
	return nil
}

// notServed is the answer to a described operation by a server that runs without this part, such as the desk.
// If every operation got it, none would count as seen.
const notServed = "not_found"

// strays are the error codes that the server may answer for an operation that is not described.
var strays = []string{notServed, "unknown_room", "method_not_allowed", "not_signed_in", "cross_site",
	"wrong_host"}

// stray checks the answer to an undescribed operation: it is a refusal, or a preflight.
func (r *Recorder) stray(status int, header http.Header, body []byte) error {
	if status == http.StatusNoContent && header.Get("Access-Control-Allow-Methods") != "" {
		return nil
	}
	p, err := problemOf(body)
	if err != nil || !slices.Contains(strays, p.Code) || p.Status != status {
		return fmt.Errorf("neither this path nor this method is described")
	}
	return nil
}

// problem has the fields of a refusal that tell it from another one.
type problem struct {
	Code   string `json:"code"`
	Status int    `json:"status"`
}

func problemOf(body []byte) (p problem, err error) {
	if err := json.Unmarshal(body, &p); err != nil {
		return p, fmt.Errorf("no problem: %w", err)
	}
	return p, nil
}

func (a answer) check(header http.Header, body []byte) error {
	for _, name := range a.headers {
		if header.Get(name) == "" {
			return fmt.Errorf("there is no %s", name)
		}
	}
	if len(a.content) == 0 {
		if len(body) > 0 {
			return fmt.Errorf("it has a body")
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	schema, ok := a.content[kind]
	if err != nil || !ok {
		return fmt.Errorf("its content type is %q, and not one of %v", header.Get("Content-Type"),
			slices.Sorted(maps.Keys(a.content)))
	}
	if !strings.HasSuffix(kind, "json") {
		return nil
	}
	if err := validate(schema, body); err != nil {
		return err
	}
	if kind != "application/problem+json" {
		return nil
	}
	p, err := problemOf(body)
	if err == nil && !slices.Contains(a.codes, p.Code) {
		err = fmt.Errorf("%s is not named beside this status", p.Code)
	}
	return err
}

func validate(schema *jsonschema.Schema, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// Operation is the description of one operation.
type Operation struct {
	ID, Method, Path string // the path with its parameters in braces
	Statuses         []int
}

// Operations returns all described operations, by their ids.
func (r *Recorder) Operations() (list []Operation) {
	for _, item := range r.items {
		for method, op := range item.operations {
			o := Operation{ID: op.id, Method: method, Path: strings.Join(item.parts, "/")}
			for status := range op.answers {
				n, _ := strconv.Atoi(status) // "default" is none
				o.Statuses = append(o.Statuses, n)
			}
			slices.Sort(o.Statuses)
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b Operation) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func (r *Recorder) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[what] = true
}

// Unseen returns the described parts that were never seen: "operation status" and "channel type", sorted.
func (r *Recorder) Unseen() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add := func(what string) {
		if !r.seen[what] {
			list = append(list, what)
		}
	}
	for _, item := range r.items {
		for _, op := range item.operations {
			for status := range op.answers {
				add(op.id + " " + status)
			}
		}
	}
	for _, c := range r.channels {
		for _, m := range c.messages {
			add(m.name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
