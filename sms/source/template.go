package source

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/textproto"
	"strings"
	"time"

	"github.com/waitroom/waitroom/sms"
)

// Template maps the fields of a source of kind template: names of form fields, or JSON paths such as
// payload.message and results.0.text. From and Text are required.
type Template struct {
	Scheme string // bearer, the default, or hmac-sha256
	Header string // of the secret or signature; default Authorization, X-Signature

	ID, From, To, Text, SentAt string
	Format                     string // of SentAt: rfc3339 (default), unix, unix_ms or a pattern
	Zone                       string // of a pattern without one, such as +09:00; default UTC

	Ref, Part, Parts string
}

// template reads any JSON or form.
type template struct {
	keys keys
	Template
	layout string
	zone   *time.Location
}

// The schemes.
const (
	bearer = "bearer"
	signed = "hmac-sha256"
)

func newTemplate(k keys, t Template) (sms.Source, error) {
	made := template{keys: k, Template: t, zone: time.UTC}
	if t.From == "" || t.Text == "" {
		return nil, errors.New("from and text are missing: want the names of the fields with sender and text")
	}
	headers := map[string]string{"": "Authorization", bearer: "Authorization", signed: "X-Signature"}
	header, known := headers[t.Scheme]
	if !known {
		return nil, fmt.Errorf("scheme is none: want %s or %s", bearer, signed)
	}
	if made.Header == "" {
		made.Header = header
	}
	var err error
	if made.layout, err = layoutOf(t.Format); err != nil {
		return nil, err
	}
	if t.Zone != "" {
		at, err := time.Parse("Z07:00", t.Zone)
		if err != nil {
			return nil, errors.New("zone is none: want an offset such as +09:00")
		}
		made.zone = at.Location()
	}
	return made, nil
}

// letters maps the letters of a pattern to the layout of package time.
var letters = strings.NewReplacer("yyyy", "2006", "YYYY", "2006", "MM", "01", "dd", "02", "DD", "02",
	"HH", "15", "mm", "04", "ss", "05", "SSS", "000", "XXX", "Z07:00", "XX", "Z0700", "'", "")

// layoutOf returns the layout of a format; "" for formats that a Post accepts as they are.
func layoutOf(format string) (string, error) {
	switch format {
	case "", "rfc3339", "unix", "unix_ms":
		return "", nil
	}
	layout := letters.Replace(format)
	at := time.Date(2019, 11, 23, 21, 37, 48, 0, time.UTC)
	if read, err := time.Parse(layout, at.Format(layout)); err != nil || !read.Equal(at) {
		return "", errors.New("format is none: want rfc3339, unix, unix_ms, or such as yyyy-MM-dd HH:mm:ss")
	}
	return layout, nil
}

func (t template) Verify(r sms.Request) error {
	given := strings.TrimSpace(r.Header.Get(t.Header))
	if given == "" {
		return refused("there is no %s", textproto.CanonicalMIMEHeaderKey(t.Header))
	}
	if t.Scheme != signed {
		if scheme, rest, ok := strings.Cut(given, " "); ok && strings.EqualFold(scheme, bearer) {
			given = strings.TrimSpace(rest)
		}
		if !t.keys.match([]byte(given), func(key []byte) []byte { return key }) {
			return refused("%s is not the secret", textproto.CanonicalMIMEHeaderKey(t.Header))
		}
		return nil
	}
	if !t.keys.match(digest(given), func(key []byte) []byte { return hmacSHA256(key, r.Body) }) {
		return refused("%s is not the HMAC-SHA256 of the body under the secret",
			textproto.CanonicalMIMEHeaderKey(t.Header))
	}
	return nil
}

// digest decodes a signature in hex or base64, with or without the prefix sha256=.
func digest(text string) []byte {
	text = strings.TrimPrefix(text, "sha256=")
	if sum, err := hex.DecodeString(text); err == nil {
		return sum
	}
	sum, _ := base64.StdEncoding.DecodeString(text) // neither is no signature
	return sum
}

func (t template) Parse(r sms.Request) (sms.Post, error) {
	f, err := readFields(r)
	if err != nil {
		return sms.Post{}, err
	}
	text := func(path string) string {
		if path == "" {
			return ""
		}
		return f.text(path)
	}
	return sms.Post{ID: text(t.ID), From: text(t.From), To: text(t.To), Text: sms.NewSecret(text(t.Text)),
		SentAt: t.sentAt(text(t.SentAt)), Ref: text(t.Ref), Part: text(t.Part), Parts: text(t.Parts)}, nil
}

// sentAt returns a time in RFC 3339. It returns the given text where a Post reads the format itself, and a
// text that a Post refuses where the time cannot be parsed.
func (t template) sentAt(given string) string {
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
