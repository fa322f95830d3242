package roomsfile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/waitroom/waitroom/internal/similar"
	"github.com/waitroom/waitroom/room"
)

// key is a key of an entry; a nested one is written with a dot.
type key struct {
	name string
	read func(r *reader, d *draft, v *node) error
}

// keys returns all keys, in the order of error messages.
func keys() []key {
	return []key{
		{"name", text(64, func(e *Entry) *Text { return &e.Name })},
		{"phone", tel(func(e *Entry) *string { return &e.Phone })},
		{"marketplace.name", text(64, func(e *Entry) *Text { return &e.Marketplace.Name })},
		{"marketplace.url", link(func(e *Entry) *string { return &e.Marketplace.URL })},
		{"marketplace.from", senders(mostAsked, func(e *Entry) *[]string { return &e.Marketplace.From })},
		{"marketplace.contains", single(piece, func(e *Entry) *string { return &e.Marketplace.Contains })},
		{"marketplaces", marketplaces},
		{"support", contact},
		{"support.text", text(200, func(e *Entry) *Text { return &e.Support.Text })},
		{"support.url", link(func(e *Entry) *string { return &e.Support.URL })},
		{"support.tel", tel(func(e *Entry) *string { return &e.Support.Tel })},
		{"return_url", link(func(e *Entry) *string { return &e.ReturnURL })},
		{"open", (*reader).open},
		{"brand.name", text(64, func(e *Entry) *Text { return &e.Brand.Name })},
		{"brand.logo", (*reader).logo},
		{"brand.colour", colour},
		{"sms_secret", secret("sms_secret_file", (*reader).asItIs)},
		{"sms_secret_file", secret("sms_secret", (*reader).readSecret)},
		{"sms_from", senders(mostSenders, func(e *Entry) *[]string { return &e.Senders })},
		{"sms_sources", (*reader).sources},
		{"sms_expect", expect},
		{"sms_quarantine", span(func(r *reader) limit { return r.checks.Quarantine },
			func(e *Entry) *time.Duration { return &e.Quarantine })},
		{"lease", span(func(r *reader) limit { return r.checks.Lease },
			func(e *Entry) *time.Duration { return &e.Lease })},
		{"claim_within", span(func(r *reader) limit { return r.checks.ClaimWithin },
			func(e *Entry) *time.Duration { return &e.ClaimWithin })},
	}
}

// contact parses a contact given as one value: a URL, a telephone number or a text.
func contact(r *reader, d *draft, v *node) error {
	name := "support.text"
	switch text := strings.TrimSpace(v.text); {
	case safe(text):
		name = "support.url"
	case telephone.MatchString(text):
		name = "support.tel"
	}
	at := slices.IndexFunc(keys(), func(k key) bool { return k.name == name })
	return keys()[at].read(r, d, v)
}

type limit func(text string) (time.Duration, error)

// keys parses the keys of an entry, or of the nested key whose name, with a dot, is within. It skips empty
// values.
func (r *reader) keys(d *draft, within string, n *node) {
	for _, p := range n.pairs {
		name := within + p.key.text
		at := slices.IndexFunc(keys(), func(k key) bool { return k.name == name })
		switch {
		case at < 0 && !isGroup(name):
			r.wrong(p.key.line, "%s: %s", d.name, unknown(p.key.text, within, namesIn(within)))
		case p.value.kind == nothing && name != "brand.colour": // of which YAML may have made a comment
		case p.value.kind == group && isGroup(name):
			r.keys(d, name+".", p.value)
		case at < 0:
			r.wrong(p.value.line, "%s: %s: want %s under it", d.name, name, strings.Join(namesIn(name+"."), " and "))
		default:
			d.lines[name] = p.key.line
			if err := keys()[at].read(r, d, p.value); err != nil {
				r.wrong(p.value.line, "%s: %s %v", d.name, name, err)
			}
		}
	}
}

// single parses a single value and sets a field.
func single[T any](read func(string) (T, error), field func(*Entry) *T) func(*reader, *draft, *node) error {
	return func(_ *reader, d *draft, v *node) error {
		text, err := v.one()
		if err != nil {
			return err
		}
		value, err := read(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("is %s: %w", v.shown(), err)
		}
		d.set = append(d.set, func(e *Entry) { *field(e) = value })
		return nil
	}
}

func span(of func(*reader) limit, field func(*Entry) *time.Duration) func(*reader, *draft, *node) error {
	return func(r *reader, d *draft, v *node) error { return single(of(r), field)(r, d, v) }
}

func expect(r *reader, d *draft, v *node) error {
	return single(func(text string) (bool, error) {
		if text != "auto" && text != "required" {
			return false, errors.New("want auto or required")
		}
		return text == "required", nil
	}, func(e *Entry) *bool { return &e.Required })(r, d, v)
}

// The limits of a list of senders.
const (
	mostSenders = 100
	mostAsked   = 10 // of an ask
	longest     = 64 // characters, as of an expected sender
)

// senders parses a list of at most `most` senders, or one.
func senders(most int, field func(*Entry) *[]string) func(*reader, *draft, *node) error {
	return func(r *reader, d *draft, v *node) error {
		items := v.each()
		if len(items) == 0 || len(items) > most {
			return fmt.Errorf("has %d senders: want 1 to %d; without the key, messages of all senders count",
				len(items), most)
		}
		list := make([]string, len(items))
		for i, item := range items {
			list[i] = strings.TrimSpace(item.text)
			if n := utf8.RuneCountInString(list[i]); item.kind != scalar || n == 0 || n > longest {
				r.wrong(item.line, "%s: has %s: want a sender of at most %d characters, such as 1588-1234",
					d.name, item.shown(), longest)
			} else if !oneSender(list[i]) {
				r.wrong(item.line, "%s: has %s: want the number or name of one sender, such as 1588-1234, and the "+
					"next one as an item of its own", d.name, item.shown())
			}
		}
		d.set = append(d.set, func(e *Entry) { *field(e) = list })
		return nil
	}
}

// oneSender reports whether a message can have this sender. A list in one text, or a pattern, fits none.
func oneSender(text string) bool {
	return !strings.ContainsAny(text, ",;*") && strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	})
}

// piece parses a text that a message contains.
func piece(text string) (string, error) {
	if err := (room.Filter{Contains: text}).Valid(); err != nil || text == "" {
		return "", fmt.Errorf("want a text of at most %d characters", longest)
	}
	return text, nil
}

const mostMarkets = 20

// marketplaces parses the marketplaces of which the seller chooses one.
func marketplaces(r *reader, d *draft, v *node) error {
	if v.kind != list || len(v.items) == 0 || len(v.items) > mostMarkets {
		return fmt.Errorf("is %s: want a list of 1 to %d marketplaces, each with its name", v.shown(), mostMarkets)
	}
	markets := make([]Marketplace, len(v.items))
	for i, item := range v.items {
		if item.value("name") == nil {
			r.wrong(item.line, "%s: marketplaces has one without a name: want a name for each", d.name)
			continue
		}
		one, entry := &draft{name: d.name, lines: make(map[string]int)}, Entry{}
		r.keys(one, "marketplace.", item)
		one.apply(&entry)
		markets[i] = entry.Marketplace
	}
	d.set = append(d.set, func(e *Entry) { e.Marketplaces = markets })
	return nil
}

// isKey reports whether an entry has a key of this name.
func isKey(name string) bool { return slices.Contains(namesIn(""), name) }

func isGroup(name string) bool { return len(namesIn(name+".")) > 0 }

// namesIn returns the keys under a name with a dot; "" for those of an entry.
func namesIn(within string) (names []string) {
	for _, k := range keys() {
		rest, ok := strings.CutPrefix(k.name, within)
		name, _, _ := strings.Cut(rest, ".")
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

var word = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]{0,31}$`)

// unknown returns the message for an unknown key, with a suggestion. Text unlike a key is not repeated: it
// may be a secret.
func unknown(name, within string, names []string) string {
	problem := "a key that is none"
	if word.MatchString(name) {
		problem = within + name + " is no key"
	}
	if meant := nearest(name, names); meant != "" {
		return fmt.Sprintf("%s: do you mean %s%s?", problem, within, meant)
	}
	return fmt.Sprintf("%s: the keys are %s", problem, strings.Join(names, ", "))
}

// nearest returns the most similar name; "" if all differ from it by over a third of its letters.
func nearest(name string, names []string) string {
	plain := strings.NewReplacer("_", "", "-", "")
	name = plain.Replace(strings.ToLower(name))
	best, least := "", len(name)/3+1
	for _, other := range names {
		if d := similar.Distance(name, plain.Replace(other)); d < least {
			best, least = other, d
		}
	}
	return best
}
