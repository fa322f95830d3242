package source

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/textproto"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/waitroom/waitroom/sms"
)

// token is the scheme of a JWT by HS256. It proves the sender; where it has payload_hash or url_hash, the
// SHA-256 of body or URL, it covers these too.
type token struct {
	keys   keys
	header string
	hint   string // what the secret has to be
}

func newToken(k keys, s Signature) (verifier, error) {
	return &token{keys: k, header: s.Header, hint: "the secret has to be the one that signs the token"}, nil
}

// bound are the claims of a token.
type bound struct {
	jwt.RegisteredClaims
	Payload string `json:"payload_hash"`
	URL     string `json:"url_hash"`
}

func (t *token) Verify(r sms.Request) error {
	header := textproto.CanonicalMIMEHeaderKey(t.header)
	given := strings.TrimSpace(r.Header.Get(header))
	if scheme, rest, ok := strings.Cut(given, " "); ok && strings.EqualFold(scheme, "bearer") {
		given = strings.TrimSpace(rest)
	}
	if given == "" {
		return refused("there is no bearer token in %s: give the webhook a signing key", header)
	}
	var claims bound
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Name}),
		jwt.WithLeeway(sms.Tolerance), jwt.WithTimeFunc(func() time.Time { return r.Now }))
	_, err := parser.ParseWithClaims(given, &claims, func(*jwt.Token) (any, error) { return t.keys.set(), nil })
	switch {
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return refused("%s, and the token signed by HS256", t.hint)
	case errors.Is(err, jwt.ErrTokenInvalidClaims):
		return refused("the token is not valid now")
	case err != nil:
		return refused("%s has no signed token", header)
	case claims.IssuedAt == nil && claims.ExpiresAt == nil:
		return refused("the token does not say when it was issued, nor when it expires")
	}
	if claims.IssuedAt != nil {
		if err := timely(claims.IssuedAt.Time, r.Now); err != nil {
			return err
		}
	}
	return claims.cover(r)
}

// cover checks the hashes in a token.
func (c bound) cover(r sms.Request) error {
	if c.Payload != "" && !isHash(c.Payload, string(r.Body)) {
		return refused("the body is not the one that the token was made for")
	}
	if c.URL == "" {
		return nil
	}
	for _, address := range addresses(r.URL) {
		if isHash(c.URL, address) {
			return nil
		}
	}
	return refused("the token was made for another address: the provider has to call WAITROOM_PUBLIC_URL and "+
		"%s to the letter", pathOf(r.URL))
}

func isHash(given, text string) bool {
	sum := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare([]byte(strings.ToLower(given)), []byte(hex.EncodeToString(sum[:]))) == 1
}
