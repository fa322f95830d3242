// Package source reads the formats of phones and SMS providers. Each kind verifies its own signature and
// returns an sms.Post. A kind is one file with two methods, Verify and Parse, written after the documentation
// and source code of the sending program.
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
	Template Template     // of kind template
}

// Configured is a source with its settings.
type Configured struct {
	sms.Source
	Settings
}

var kinds = map[string]func(keys, Template) (sms.Source, error){
	"twilio":              func(k keys, _ Template) (sms.Source, error) { return twilio{k}, nil },
	"android-sms-gateway": func(k keys, _ Template) (sms.Source, error) { return androidGateway{k}, nil },
	"httpsms":             func(k keys, _ Template) (sms.Source, error) { return httpSMS{k}, nil },
	"smsforwarder":        func(k keys, _ Template) (sms.Source, error) { return smsForwarder{k}, nil },
	"template":            newTemplate,
}

// Kinds returns all kinds.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// New returns a source. The error names the wrong setting and repeats no secret.
func New(s Settings) (Configured, error) {
	newSource, known := kinds[s.Kind]
	if !known {
		return Configured{}, fmt.Errorf("kind is none: want one of %s", strings.Join(Kinds(), ", "))
	}
	if len(s.Secrets) == 0 {
		return Configured{}, errors.New("secret is missing")
	}
	if slices.ContainsFunc(s.Secrets, func(one sms.Secret) bool { return one.Reveal() == "" }) {
		return Configured{}, errors.New("secret is empty")
	}
	made, err := newSource(s.Secrets, s.Template)
	return Configured{made, s}, err
}

var name = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`)

// ValidName reports whether a source may have this name, which is part of a URL.
func ValidName(text string) bool { return name.MatchString(text) }

// Secrets returns the secrets of several sources, always in the same order.
func Secrets(sources map[string]Configured) (secrets [][]byte) {
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		for _, secret := range sources[name].Secrets {
			secrets = append(secrets, []byte(secret.Reveal()))
		}
	}
	return secrets
}

// shortest is the length from which a secret causes no warning. One phone's app makes secrets of 8.
const shortest = 16

// Short reports whether one of the secrets can be guessed.
func (c Configured) Short() bool {
	return slices.ContainsFunc(c.Secrets, func(s sms.Secret) bool { return len(s.Reveal()) < shortest })
}
