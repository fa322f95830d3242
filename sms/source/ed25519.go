package source

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/waitroom/waitroom/sms"
)

// signedEd25519 is the scheme of an Ed25519 signature. The secrets are the provider's public keys.
type signedEd25519 struct {
	keys []ed25519.PublicKey
	Signature
}

func newEd25519(k keys, s Signature) (verifier, error) {
	if s.Signed == "" {
		s.Signed = "{body}"
	}
	if err := validParts(s.Signed); err != nil {
		return nil, err
	}
	if err := validPlace(s.SignedAt); err != nil {
		return nil, err
	}
	made := &signedEd25519{Signature: s}
	for _, one := range k {
		text := strings.TrimSpace(one.Reveal())
		key, err := hex.DecodeString(text)
		if err != nil {
			key, err = base64.StdEncoding.DecodeString(text)
		}
		if err != nil || len(key) != ed25519.PublicKeySize {
			return nil, errors.New("secret is no public key: want the 32 bytes of one in base64 or hex")
		}
		made.keys = append(made.keys, key)
	}
	return made, nil
}

func (s *signedEd25519) Verify(r sms.Request) error {
	e := &evidence{request: r, address: r.URL, without: s.Field}
	given, err := e.signature(s.Signature)
	if err != nil {
		return err
	}
	text, err := e.fill(s.Signed, nil)
	if err != nil {
		return err
	}
	for _, key := range s.keys {
		if ed25519.Verify(key, []byte(text), given) {
			return timelyAt(s.SignedAt, e)
		}
	}
	return refused("%s is not of the key whose public half is the secret", s.where())
}

// validPlace checks where the time of signing is.
func validPlace(place string) error {
	if kind, name, ok := strings.Cut(place, " "); place != "" &&
		!(ok && (kind == "header" || kind == "field") && strings.TrimSpace(name) != "") {
		return errors.New("signed_at is no place: want header NAME or field NAME")
	}
	return nil
}
