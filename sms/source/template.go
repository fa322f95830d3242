package source

import (
	"errors"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones by name, also where the machine has none

	"github.com/waitroom/waitroom/sms"
)

// Template maps the fields of a source of kind template: names of form fields, or JSON paths such as
// payload.message and results.0.text. From and Text are required. A post has to have each named field but
// those of a long message's piece.
type Template struct {
	Signature // how the source signs

	Each string              // path of an array of messages; the other paths are then within one element
	Only map[string][]string // fields with the values that they must have: any other post is no inbound SMS

	ID, From, To, Text, SentAt string
	SIM                        string // the card of a phone that received the message
	Format                     string // of SentAt: rfc3339 (default), unix, unix_ms, unix_us or a pattern
	Zone                       string // of a pattern without one, such as +09:00 or Asia/Seoul; default UTC

	Ref, Part, Parts string
}

// reader reads posts by a template. Presets of known programs set the unexported fields.
type reader struct {
	Template
	layout string
	zone   *time.Location

	lenient   bool   // a named field may be missing
	encrypted string // field that is true for a message that can not be read
	otherText string // field with the text where Text has none
	stamp     string // field with unix ms for a derived id
}

func newReader(t Template) (*reader, error) {
	made := &reader{Template: t, zone: time.UTC}
	if t.From == "" || t.Text == "" {
		return nil, errors.New("from and text are missing: want the names of the fields with sender and text")
	}
	var err error
	if made.layout, err = layoutOf(t.Format); err != nil {
		return nil, err
	}
	if t.Zone != "" {
		if made.zone, err = zoneOf(t.Zone); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// letters maps the letters of a pattern to the layout of package time.
var letters = strings.NewReplacer("yyyy", "2006", "YYYY", "2006", "MM", "01", "dd", "02", "DD", "02",
	"HH", "15", "mm", "04", "ss", "05", "SSSSSS", "000000", "SSS", "000", "XXX", "Z07:00", "XX", "Z0700",
	"'", "")

// layoutOf returns the layout of a format; "" for formats that a Post accepts as they are.
func layoutOf(format string) (string, error) {
	switch format {
	case "", "rfc3339", "unix", "unix_ms", "unix_us":
		return "", nil
	}
	layout := letters.Replace(format)
	at := time.Date(2019, 11, 23, 21, 37, 48, 0, time.UTC)
	if read, err := time.Parse(layout, at.Format(layout)); err != nil || !read.Equal(at) {
		return "", errors.New("format is none: want rfc3339, unix, unix_ms, unix_us, or such as " +
			"yyyy-MM-dd HH:mm:ss")
	}
	return layout, nil
}

// zoneOf returns the zone of an offset or of a name. Local is none: it depends on the machine.
func zoneOf(text string) (*time.Location, error) {
	if at, err := time.Parse("Z07:00", text); err == nil {
		return at.Location(), nil
	}
	zone, err := time.LoadLocation(text)
	if err != nil || text == "Local" {
		return nil, errors.New("zone is none: want an offset such as +09:00, or a name such as Asia/Seoul")
	}
	return zone, nil
}

// Parse returns the messages of a post, beside an error if some elements of Each can not be read.
func (t *reader) Parse(r sms.Request) ([]sms.Post, error) {
	whole, err := readFields(r)
	if err != nil {
		return nil, err
	}
	elements := []any{whole.root}
	if t.Each != "" {
		var ok bool
		if elements, ok = whole.list(t.Each); !ok {
			if event, wanted := t.wanted(whole, whole); !wanted {
				return nil, sms.Ignored(event)
			}
			return nil, sms.FaultLacks("each")
		}
	}
	var posts []sms.Post
	var wrong error
	ignored := "empty"
	for _, element := range elements {
		f := fields{element}
		if event, wanted := t.wanted(f, whole); !wanted {
			ignored = event
			continue
		}
		if p, err := t.post(f); err != nil {
			wrong = err
		} else {
			posts = append(posts, p)
		}
	}
	if len(posts) == 0 && wrong == nil {
		return nil, sms.Ignored(ignored)
	}
	return posts, wrong
}

// wanted reports whether a message has the values of Only, itself or in the whole post. If it has not, event
// is the value that another one has.
func (t *reader) wanted(f, whole fields) (event string, wanted bool) {
	for path, values := range t.Only {
		value := f.text(path)
		if value == "" {
			value = whole.text(path)
		}
		if !slices.Contains(values, value) {
			return value, false
		}
	}
	return "", true
}

// post reads one message.
func (t *reader) post(f fields) (p sms.Post, err error) {
	if t.encrypted != "" && f.text(t.encrypted) == "true" {
		return sms.Post{}, sms.FaultEncrypted
	}
	read := func(key, path string, required bool) string {
		value := f.text(path)
		switch {
		case path == "" || err != nil || t.lenient:
		case !f.single(path) && key != "to":
			err = sms.FaultSeveral
		case required && strings.TrimSpace(value) == "":
			err = sms.FaultLacks(key)
		}
		return value
	}
	text := read("text", t.Text, t.otherText == "")
	if text == "" && t.otherText != "" {
		text = f.text(t.otherText)
	}
	p = sms.Post{ID: read("id", t.ID, true), From: read("from", t.From, true), To: read("to", t.To, true),
		SIM: read("sim_field", t.SIM, true), Text: sms.NewSecret(text),
		SentAt: t.sentAt(read("sent_at", t.SentAt, true)),
		Ref:    read("ref", t.Ref, false), Part: read("part", t.Part, false), Parts: read("parts", t.Parts, false)}
	if t.stamp != "" {
		p.Stamp = milliseconds(f.text(t.stamp))
	}
	return p, err
}

// sentAt returns a time in RFC 3339. It returns the given text where a Post reads the format itself, and a
// text that a Post refuses where the time cannot be parsed.
func (t *reader) sentAt(given string) string {
	given = strings.TrimSpace(given)
	if t.layout == "" || given == "" {
		return given
	}
	at, err := time.ParseInLocation(t.layout, given, t.zone)
	if err != nil {
		return "not " + t.Format // it may look like another format
	}
	return at.Format(time.RFC3339Nano)
}
