package source

import (
	"encoding/base64"
	"net/textproto"
	"strings"

	"github.com/waitroom/waitroom/sms"
)

// shared is the scheme of a secret in a header: the value itself, behind Bearer, or Basic of NAME:PASSWORD.
type shared struct {
	keys   keys
	header string
}

func newShared(k keys, s Signature) (verifier, error) { return shared{k, s.Header}, nil }

func (s shared) Verify(r sms.Request) error {
	header := textproto.CanonicalMIMEHeaderKey(s.header)
	given := strings.TrimSpace(r.Header.Get(header))
	if given == "" {
		return refused("there is no %s", header)
	}
	candidates := []string{given}
	if scheme, rest, ok := strings.Cut(given, " "); ok {
		rest = strings.TrimSpace(rest)
		switch strings.ToLower(scheme) {
		case "bearer":
			candidates = append(candidates, rest)
		case "basic":
			if plain, err := base64.StdEncoding.DecodeString(rest); err == nil {
				candidates = append(candidates, string(plain))
			}
		}
	}
	for _, one := range candidates {
		if s.keys.match([]byte(one), func(key []byte) []byte { return key }) {
			return nil
		}
	}
	return refused("%s is not the secret", header)
}
