package source

import (
	"crypto/hmac"
	"crypto/subtle"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/waitroom/waitroom/sms"
)

// Signature is how a source proves that it sent a request: a scheme, and where its parts are.
type Signature struct {
	Scheme   string // one of schemeNames; default bearer
	Header   string // of the secret or signature; each scheme has a default
	Field    string // of the body with the signature, in place of a header
	Signed   string // what is signed, such as {url}{params}; each scheme has a default
	SignedAt string // where the time of signing is: header NAME or field NAME; "" = the signature has none
}

// verifier checks a signature.
type verifier interface {
	Verify(sms.Request) error
}

// The schemes.
const (
	bearer     = "bearer"
	hmacSHA256 = "hmac-sha256"
	hmacSHA1   = "hmac-sha1"
	jwtHS256   = "jwt"
	ed25519Key = "ed25519"
	sns        = "sns"
)

// schemes has the constructor of each scheme, and its usual header.
var schemes = map[string]struct {
	header string
	make   func(keys, Signature) (verifier, error)
}{
	bearer:     {"Authorization", newShared},
	hmacSHA256: {"X-Signature", newMAC},
	hmacSHA1:   {"X-Signature", newMAC},
	jwtHS256:   {"Authorization", newToken},
	ed25519Key: {"X-Signature", newEd25519},
	sns:        {"", newSNS},
}

// schemeNames lists the schemes for error messages.
var schemeNames = []string{bearer, hmacSHA256, hmacSHA1, jwtHS256, ed25519Key, sns}

func newVerifier(k keys, s Signature) (verifier, error) {
	if s.Scheme == "" {
		s.Scheme = bearer
	}
	scheme, known := schemes[s.Scheme]
	if !known {
		return nil, fmt.Errorf("scheme is none: want one of %s", strings.Join(schemeNames, ", "))
	}
	if s.Header == "" {
		s.Header = scheme.header
	}
	return scheme.make(k, s)
}

// public reports whether the keys of a scheme are no secrets, so that they seal nothing.
func (s Signature) public() bool { return s.Scheme == ed25519Key || s.Scheme == sns }

// keys are a source's secrets. They do not print.
type keys []sms.Secret

// match reports whether any key produces the given signature. It compares in constant time.
func (k keys) match(given []byte, makes func(key []byte) []byte) bool {
	found := 0
	for _, key := range k {
		found |= subtle.ConstantTimeCompare(given, makes([]byte(key.Reveal())))
	}
	return found == 1
}

// set returns the secrets as the JWT library takes them.
func (k keys) set() (set jwt.VerificationKeySet) {
	for _, key := range k {
		set.Keys = append(set.Keys, []byte(key.Reveal()))
	}
	return set
}

// mac returns the HMAC of a text.
func mac(h func() hash.Hash, key []byte, text string) []byte {
	m := hmac.New(h, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// refused returns sms.ErrSignature with a hint. It repeats nothing of the request.
func refused(format string, args ...any) error {
	return &sms.SignatureFault{Hint: fmt.Sprintf(format, args...)}
}

// timely returns an error if a signature's time is too far off.
func timely(signed, now time.Time) error {
	if off := now.Sub(signed); off.Abs() > sms.Tolerance {
		return refused("its time is over %s off: check the sender's clock", sms.Tolerance)
	}
	return nil
}

// timelyAt checks the time of signing that a place of the request has, in unix seconds or milliseconds.
func timelyAt(place string, e *evidence) error {
	if place == "" {
		return nil
	}
	text, err := e.part(place)
	if err != nil {
		return err
	}
	at := milliseconds(text)
	if at == 0 {
		return refused("%s is no unix time", place)
	}
	return timely(time.UnixMilli(at), e.request.Now)
}

// milliseconds reads unix seconds or milliseconds as milliseconds; 0 for anything else.
func milliseconds(text string) int64 {
	at, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || at < 0 {
		return 0
	}
	if at < 100_000_000_000 { // the year 5138 in seconds
		at *= 1000
	}
	return at
}
