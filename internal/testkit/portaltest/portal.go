// Package portaltest is the seller portal of tests. It signs tokens and serves their keys, which can be
// changed and withheld.
package portaltest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
)

// Claims are the content of a token.
type Claims map[string]any

// For returns the claims of a token for a seller, made now, as a portal would send them.
func For(seller string) Claims {
	now := time.Now()
	return Claims{"sub": seller, "aud": "waitroom", "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
		"jti": rand.Text()}
}

// With returns a copy with one claim set, or without it if the value is nil.
func (c Claims) With(name string, value any) Claims {
	to := Claims{}
	for k, v := range c {
		to[k] = v
	}
	if to[name] = value; value == nil {
		delete(to, name)
	}
	return to
}

// Sign signs claims by any method with any key; a kid of "" is left out.
func Sign(tb testing.TB, method jwt.SigningMethod, key any, kid string, claims Claims) string {
	tb.Helper()
	token := jwt.NewWithClaims(method, jwt.MapClaims(claims))
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	if err != nil {
		tb.Fatalf("portaltest: %v", err)
	}
	return text
}

// Key is a key pair of the portal's.
type Key struct {
	ID     string
	Method jwt.SigningMethod
	Signer crypto.Signer
}

// NewKey makes a key for RS256, ES256 or EdDSA.
func NewKey(tb testing.TB, id string, method jwt.SigningMethod) Key {
	tb.Helper()
	var signer crypto.Signer
	var err error
	switch method {
	case jwt.SigningMethodRS256:
		signer, err = rsa.GenerateKey(rand.Reader, 2048)
	case jwt.SigningMethodES256:
		signer, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	default:
		_, signer, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		tb.Fatalf("portaltest: %v", err)
	}
	return Key{id, method, signer}
}

// Token signs claims with the key.
func (k Key) Token(tb testing.TB, claims Claims) string {
	tb.Helper()
	return Sign(tb, k.Method, k.Signer, k.ID, claims)
}

// Portal serves keys.
type Portal struct {
	URL     string // of its JWKS
	Fetches atomic.Int64

	mu     sync.Mutex
	keys   []jose.JSONWebKey
	status int
}

// Start serves the public halves of keys until the test ends.
func Start(tb testing.TB, keys ...Key) *Portal {
	tb.Helper()
	p := &Portal{}
	p.Serve(keys...)
	server := httptest.NewServer(p)
	tb.Cleanup(server.Close)
	p.URL = server.URL + "/keys"
	return p
}

// Serve sets the keys that the portal serves from now on.
func (p *Portal) Serve(keys ...Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys, p.status = nil, http.StatusOK
	for _, k := range keys {
		p.keys = append(p.keys, jose.JSONWebKey{Key: k.Signer.Public(), KeyID: k.ID, Use: "sig"})
	}
}

// Fail makes the portal answer with a status instead of keys until Serve.
func (p *Portal) Fail(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
}

func (p *Portal) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	p.Fetches.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status != http.StatusOK {
		w.WriteHeader(p.status)
		return
	}
	_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: p.keys})
}
