package source

import (
	"crypto/sha1" //nolint:gosec // Twilio's choice; an HMAC does not need what SHA-1 has lost
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/textproto"
	"net/url"
	"strings"

	"github.com/waitroom/waitroom/sms"
)

// signedMAC is the scheme of an HMAC over parts of the request.
type signedMAC struct {
	keys keys
	Signature
	hash func() hash.Hash
	hint string // on a signature that does not match; %s = the path that was called. "" = a general one
}

func newMAC(k keys, s Signature) (verifier, error) {
	if s.Signed == "" {
		s.Signed = "{body}"
	}
	if err := validParts(s.Signed); err != nil {
		return nil, err
	}
	if err := validPlace(s.SignedAt); err != nil {
		return nil, err
	}
	m := &signedMAC{keys: k, Signature: s, hash: sha256.New}
	if s.Scheme == hmacSHA1 {
		m.hash = sha1.New
	}
	return m, nil
}

func (m *signedMAC) Verify(r sms.Request) error {
	e := &evidence{request: r, address: r.URL, without: m.Field}
	given, err := e.signature(m.Signature)
	if err != nil {
		return err
	}
	for _, e.address = range addresses(r.URL) {
		var fault error
		matches := m.keys.match(given, func(key []byte) []byte {
			text, err := e.fill(m.Signed, key)
			if err != nil {
				fault = err
				return nil
			}
			return mac(m.hash, key, text)
		})
		if fault != nil {
			return fault
		}
		if matches {
			return timelyAt(m.SignedAt, e)
		}
	}
	if m.hint != "" {
		return refused("%s", strings.ReplaceAll(m.hint, "%s", pathOf(r.URL)))
	}
	return refused("%s is not the %s of %s under the secret", m.where(), strings.ToUpper(m.Scheme), m.covers())
}

func (m *signedMAC) covers() string {
	if m.Signed == "{body}" {
		return "the body"
	}
	return m.Signed
}

// where names the place of the signature.
func (s Signature) where() string {
	if s.Field != "" {
		return s.Field
	}
	return textproto.CanonicalMIMEHeaderKey(s.Header)
}

// signature returns the signature that the request has in its place, decoded.
func (e *evidence) signature(s Signature) ([]byte, error) {
	given := e.request.Header.Get(s.Header)
	if s.Field != "" {
		f, err := e.fields()
		if err != nil {
			return nil, refused("the body can not be read, and the signature is in it")
		}
		given = unescaped(f.text(s.Field))
	}
	if sum := digest(given); len(sum) > 0 {
		return sum, nil
	}
	if strings.TrimSpace(given) != "" { // one that no hash makes
		return []byte{0}, nil
	}
	return nil, refused("there is no %s", s.where())
}

// digest decodes a signature in hex or base64, with or without a prefix such as sha256=.
func digest(text string) []byte {
	text = strings.TrimSpace(text)
	if name, rest, ok := strings.Cut(text, "="); ok && (name == "sha256" || name == "sha1") {
		text = rest
	}
	if sum, err := hex.DecodeString(text); err == nil {
		return sum
	}
	text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	sum, _ := base64.RawStdEncoding.DecodeString(text) // neither is no signature
	return sum
}

// unescaped returns a signature without the escapes of URLs that some senders leave in it.
func unescaped(sign string) string {
	if !strings.Contains(sign, "%") {
		return sign
	}
	plain, err := url.QueryUnescape(sign)
	if err != nil {
		return ""
	}
	return plain
}
