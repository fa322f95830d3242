package source

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/waitroom/waitroom/sms"
)

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

// mac returns the HMAC of the concatenated texts.
func mac(h func() hash.Hash, key []byte, texts ...[]byte) []byte {
	m := hmac.New(h, key)
	for _, text := range texts {
		m.Write(text)
	}
	return m.Sum(nil)
}

func hmacSHA256(key []byte, texts ...[]byte) []byte { return mac(sha256.New, key, texts...) }

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
