// Package source reads the formats of phones and SMS providers. Each kind verifies its own signature, by one
// of a few schemes, and returns sms.Posts. Most kinds are a template of field names and a scheme.
package source

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/sms"
)

// Settings configure a source.
type Settings struct {
	Kind     string
	Secrets  []sms.Secret // the current one first; each is accepted, so that one can be replaced
	SIM      string       // the card of a phone that has the room's number, where the phone does not name that
	Template Template     // of kind template
}

// Configured is a source with its settings. Copies for several rooms have the same Source.
type Configured struct {
	sms.Source
	Settings
}

// parser reads verified requests.
type parser interface {
	Parse(sms.Request) ([]sms.Post, error)
}

// parts are a scheme and a format.
type parts struct {
	verifier
	parser
}

const (
	templateKind = "template"
	gatewayKind  = "android-sms-gateway"
)

// Kinds returns all kinds.
func Kinds() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(presets)), gatewayKind, templateKind)))
}

// New returns a source. The error names the wrong setting and repeats no secret.
func New(s Settings) (Configured, error) {
	if !slices.Contains(Kinds(), s.Kind) {
		return Configured{}, fmt.Errorf("kind is none: want one of %s", strings.Join(Kinds(), ", "))
	}
	if len(s.Secrets) == 0 {
		return Configured{}, errors.New("secret is missing")
	}
	if slices.ContainsFunc(s.Secrets, func(one sms.Secret) bool { return one.Reveal() == "" }) {
		return Configured{}, errors.New("secret is empty")
	}
	made, err := newParts(s)
	return Configured{&made, s}, err
}

func newParts(s Settings) (parts, error) {
	switch s.Kind {
	case gatewayKind:
		return newAndroidGateway(s.Secrets)
	case templateKind:
		return newTemplate(s.Secrets, s.Template)
	}
	return presets[s.Kind]().build(s.Secrets)
}

func newTemplate(k keys, t Template) (parts, error) {
	made, err := newReader(t)
	if err != nil {
		return parts{}, err
	}
	v, err := newVerifier(k, t.Signature)
	if topic, ok := v.(*topic); ok {
		return parts{v, topicReader{topic, made}}, err
	}
	return parts{v, made}, err
}

var name = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`)

// ValidName reports whether a source may have this name, which is part of a URL.
func ValidName(text string) bool { return name.MatchString(text) }

// Secrets returns the secrets of several sources, always in the same order. Public keys are none.
func Secrets(sources map[string]Configured) (secrets [][]byte) {
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if sources[name].Template.public() {
			continue
		}
		for _, secret := range sources[name].Secrets {
			secrets = append(secrets, []byte(secret.Reveal()))
		}
	}
	return secrets
}

// Addressed reports whether the signature covers the address that is called, which the server has to know
// then. The tokens of some providers cover it: maybe.
func (c Configured) Addressed() (yes, maybe bool) {
	s := c.Template.Signature
	if of, known := presets[c.Kind]; known {
		s = of().Signature
	}
	yes = strings.Contains(s.Signed, "{url}") || strings.Contains(s.Signed, "{address}")
	return yes, c.Kind == templateKind && s.Scheme == jwtHS256
}

// shortest is the length from which a secret causes no warning. One phone's app makes secrets of 8.
const shortest = 16

// Short reports whether one of the secrets can be guessed.
func (c Configured) Short() bool {
	return slices.ContainsFunc(c.Secrets, func(s sms.Secret) bool { return len(s.Reveal()) < shortest })
}
