package identity

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"fmt"

	jose "github.com/go-jose/go-jose/v4"
)

// verifier checks a signature and returns the signed payload. Refusal: ErrToken; ErrKeys if the keys are
// missing.
type verifier interface {
	algorithms() []jose.SignatureAlgorithm
	verify(context.Context, *jose.JSONWebSignature) ([]byte, error)
}

// secretKeys are shared with the portal. Each of them proves a token.
type secretKeys [][]byte

func (secretKeys) algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.HS256}
}

func (k secretKeys) verify(_ context.Context, signed *jose.JSONWebSignature) ([]byte, error) {
	for _, secret := range k {
		if payload, err := signed.Verify(secret); err == nil {
			return payload, nil
		}
	}
	return nil, ErrToken // wrongSecret says more
}

// errSignature reports that no key of the portal's fits.
var errSignature = refuse(ErrToken, "it is signed by no key of the portal's JWKS that has its kid and alg")

// minRSA is the minimum size of an RSA key in bits (RFC 7518, 3.3).
const minRSA = 2048

// key is one public key of the portal's.
type key struct {
	id        string
	algorithm jose.SignatureAlgorithm
	public    any
}

// readKeys returns a JWKS's keys with accepted algorithms; the set may hold others for other uses.
func readKeys(text []byte) ([]key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // some editors begin a file with it
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("not a JWKS: %w", err)
	}
	var keys []key
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) != nil {
			continue
		}
		algorithm := algorithmOf(k)
		if algorithm == "" || (k.Algorithm != "" && k.Algorithm != string(algorithm)) ||
			(k.Use != "" && k.Use != "sig") {
			continue
		}
		keys = append(keys, key{id: k.KeyID, algorithm: algorithm, public: k.Key})
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("none of %d keys is a public one for RS256 (from %d bits), ES256 or EdDSA",
			len(set.Keys), minRSA)
	}
	return keys, nil
}

// algorithmOf returns the one algorithm of a key, "" for none. The token never chooses the algorithm of a
// key.
func algorithmOf(k jose.JSONWebKey) jose.SignatureAlgorithm {
	if !k.Valid() {
		return ""
	}
	switch public := k.Key.(type) {
	case *rsa.PublicKey:
		if public.N.BitLen() >= minRSA {
			return jose.RS256
		}
	case *ecdsa.PublicKey:
		if public.Curve == elliptic.P256() {
			return jose.ES256
		}
	case ed25519.PublicKey:
		return jose.EdDSA
	}
	return ""
}

// tryKeys checks a signature with the key that its header names, or with all keys of its algorithm.
func tryKeys(keys []key, signed *jose.JSONWebSignature) ([]byte, bool) {
	header := signed.Signatures[0].Header
	for _, k := range keys {
		if string(k.algorithm) != header.Algorithm || (header.KeyID != "" && header.KeyID != k.id) {
			continue
		}
		if payload, err := signed.Verify(k.public); err == nil {
			return payload, true
		}
	}
	return nil, false
}
