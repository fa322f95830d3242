package push

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	jose "github.com/go-jose/go-jose/v4"
)

// tokenLasts is the lifetime of a signed token: RFC 8292, 2 allows a day. Clocks may differ by hours.
const tokenLasts = 12 * time.Hour

// encoding is the encoding of keys in headers, subscriptions and browsers.
var encoding = base64.RawURLEncoding

// key identifies the deployment to push services: browsers subscribe with its public part.
type key struct {
	private *ecdsa.PrivateKey
	public  string
	text    string // as in Redis
}

func newKey() (*key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	b, err := private.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write key: %w", err)
	}
	return parseKey(encoding.EncodeToString(b))
}

// parseKey parses a key from Redis. The error does not repeat it.
func parseKey(text string) (*key, error) {
	b, err := encoding.DecodeString(text)
	if err != nil {
		return nil, errKey
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), b)
	if err != nil {
		return nil, errKey
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		return nil, errKey
	}
	return &key{private, encoding.EncodeToString(public), text}, nil
}

// claims are those of RFC 8292, 2. Subject is a contact of the deployment, if known.
type claims struct {
	Audience string `json:"aud"`
	Expires  int64  `json:"exp"`
	Subject  string `json:"sub,omitempty"`
}

// authorization returns the header that identifies the sender to a push service.
func (k *key) authorization(audience, subject string, now time.Time) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: k.private},
		(&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	text, err := json.Marshal(claims{audience, now.Add(tokenLasts).Unix(), subject})
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return "vapid t=" + token + ", k=" + k.public, nil
}
