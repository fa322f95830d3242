package roomsfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/sms/source"
)

// sourceKey is a key of a source beside its secret.
type sourceKey struct {
	name string
	text func(*source.Settings) *string
}

// sourceKeys lists them in the order of error messages.
var sourceKeys = []sourceKey{
	{"kind", func(s *source.Settings) *string { return &s.Kind }},
	{"sim", func(s *source.Settings) *string { return &s.SIM }},
	{"scheme", func(s *source.Settings) *string { return &s.Template.Scheme }},
	{"header", func(s *source.Settings) *string { return &s.Template.Header }},
	{"signature", func(s *source.Settings) *string { return &s.Template.Field }},
	{"signed", func(s *source.Settings) *string { return &s.Template.Signed }},
	{"signed_at", func(s *source.Settings) *string { return &s.Template.SignedAt }},
	{"each", func(s *source.Settings) *string { return &s.Template.Each }},
	{"id", func(s *source.Settings) *string { return &s.Template.ID }},
	{"from", func(s *source.Settings) *string { return &s.Template.From }},
	{"to", func(s *source.Settings) *string { return &s.Template.To }},
	{"sim_field", func(s *source.Settings) *string { return &s.Template.SIM }},
	{"text", func(s *source.Settings) *string { return &s.Template.Text }},
	{"sent_at", func(s *source.Settings) *string { return &s.Template.SentAt }},
	{"format", func(s *source.Settings) *string { return &s.Template.Format }},
	{"zone", func(s *source.Settings) *string { return &s.Template.Zone }},
	{"ref", func(s *source.Settings) *string { return &s.Template.Ref }},
	{"part", func(s *source.Settings) *string { return &s.Template.Part }},
	{"parts", func(s *source.Settings) *string { return &s.Template.Parts }},
}

// namedSources returns the sources of a group by name, or of a list by each one's name or kind.
func namedSources(v *node) ([]pair, error) {
	if v.kind == group {
		return v.pairs, nil
	}
	unnamed := errors.New("is no group: want a name for each source, and under it its kind and secret")
	if v.kind != list {
		return nil, unnamed
	}
	var sources []pair
	for _, item := range v.items {
		name := item.value("name", "kind")
		if name == nil {
			return nil, unnamed
		}
		if slices.ContainsFunc(sources, func(p pair) bool { return p.key.text == name.text }) {
			return nil, errors.New("has two sources of one name: give each a name of its own")
		}
		item.pairs = slices.DeleteFunc(item.pairs, func(p pair) bool { return p.key.text == "name" })
		sources = append(sources, pair{name, item})
	}
	return sources, nil
}

// sources parses the sources with their own formats, by name. A source comes from the narrowest entry that
// names it.
func (r *reader) sources(d *draft, v *node) error {
	sources, err := namedSources(v)
	if err != nil {
		return err
	}
	for _, p := range sources {
		name := p.key.text
		if !source.ValidName(name) {
			r.wrong(p.key.line, "%s: sms_sources has a name that is none: "+
				"want small letters, digits, - and _, at most 32", d.name)
			continue
		}
		if sim, ok := onlySIM(p.value); ok {
			d.cards = append(d.cards, name)
			d.source(name, func(wider source.Configured) source.Configured {
				wider.SIM = sim
				return wider
			})
			continue
		}
		made, err := r.source(name, p.value)
		if err != nil {
			r.wrong(p.key.line, "%s: sms_sources.%s: %v", d.name, name, err)
			continue
		}
		r.secrets = append(r.secrets, source.Secrets(map[string]source.Configured{name: made})...)
		if made.Short() {
			r.warn(d.line, "%s: the secret of source %s is short and can be guessed: use at least 16 characters",
				d.name, name)
		}
		d.source(name, func(source.Configured) source.Configured { return made })
	}
	return nil
}

// source sets a source of the entry to what `of` returns for the wider entry's source of that name.
func (d *draft) source(name string, of func(wider source.Configured) source.Configured) {
	d.set = append(d.set, func(e *Entry) {
		all := map[string]source.Configured{}
		maps.Copy(all, e.Sources)
		all[name] = of(all[name])
		e.Sources = all
	})
}

// onlySIM returns the card of a source that an entry gives nothing else: the rest is that of the wider entry,
// or of SMS_SOURCES.
func onlySIM(v *node) (sim string, ok bool) {
	if v.kind != group || len(v.pairs) != 1 || v.pairs[0].key.text != "sim" || v.pairs[0].value.kind != scalar {
		return "", false
	}
	return strings.TrimSpace(v.pairs[0].value.text), true
}

// complete checks that an entry's sources are set up, and that something seals its messages.
func (r *reader) complete(d *draft, e *Entry) {
	for _, name := range d.cards {
		if e.Sources[name].Source == nil {
			r.wrong(d.line, "%s: sms_sources.%s has a sim alone: want its secret here, in a wider entry or in "+
				"WAITROOM_SMS_SOURCES", d.name, name)
		}
	}
	if len(e.Sources) > 0 && e.Keyring == nil && !r.checks.Sealed {
		r.wrong(d.line, "%s: the sources have public keys alone, and nothing seals their messages: set "+
			"WAITROOM_SMS_WEBHOOK_SECRET", d.name)
	}
}

// source parses one source; a single value is its secret. Its kind defaults to its name.
func (r *reader) source(name string, v *node) (source.Configured, error) {
	s := source.Settings{Kind: name}
	if v.kind == scalar {
		s.Secrets = []sms.Secret{sms.NewSecret(v.text)}
		return source.New(s)
	}
	if v.kind != group {
		return source.Configured{}, errors.New("want its kind and secret under it")
	}
	for _, p := range v.pairs {
		if err := r.sourceKey(&s, p); err != nil {
			return source.Configured{}, err
		}
	}
	return source.New(s)
}

func (r *reader) sourceKey(s *source.Settings, p pair) error {
	name, v := p.key.text, p.value
	switch at := slices.IndexFunc(sourceKeys, func(k sourceKey) bool { return k.name == name }); {
	case name == "secret" || name == "secret_file":
		if len(s.Secrets) > 0 {
			return errors.New("secret and secret_file: want one of them")
		}
		return r.sourceSecrets(s, v, name == "secret_file")
	case name == "only":
		return only(s, v)
	case at < 0:
		names := []string{"secret", "secret_file"}
		for _, k := range sourceKeys {
			names = append(names, k.name)
		}
		return errors.New(unknown(name, "", append(names, "only")))
	default:
		text, err := v.one()
		if err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
		if name != "signed" { // a blank may be signed
			text = strings.TrimSpace(text)
		}
		*sourceKeys[at].text(s) = text
	}
	return nil
}

// only parses fields with the value that each must have, or a list of values.
func only(s *source.Settings, v *node) error {
	wrong := errors.New("only is no group: want a field's name and under it its value, or a list of values")
	if v.kind != group || len(v.pairs) == 0 {
		return wrong
	}
	s.Template.Only = make(map[string][]string, len(v.pairs))
	for _, p := range v.pairs {
		values := p.value.each()
		for _, one := range values {
			if one.kind != scalar {
				return wrong
			}
			s.Template.Only[p.key.text] = append(s.Template.Only[p.key.text], one.text)
		}
		if len(values) == 0 {
			return wrong
		}
	}
	return nil
}

// sourceSecrets parses a secret, or several during a rotation: a list, or the lines of a file.
func (r *reader) sourceSecrets(s *source.Settings, v *node, inFile bool) error {
	for _, item := range v.each() {
		text, err := item.one()
		if err != nil {
			return fmt.Errorf("a secret %w", err)
		}
		lines := []string{text}
		if inFile {
			if text, err = r.readSecret(text); err != nil {
				return fmt.Errorf("secret_file %w", err)
			}
			lines = strings.Split(text, "\n")
		}
		for _, line := range lines {
			if line = strings.TrimSpace(line); line != "" {
				s.Secrets = append(s.Secrets, sms.NewSecret(line))
			}
		}
	}
	return nil
}
