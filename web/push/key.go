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

// tokenLasts is how long a push service may take us at our word: RFC 8292, 2 allows a day. Clocks may differ by hours.
const tokenLasts = 12 * time.Hour

// encoding is how keys are written in headers, in subscriptions and for browsers.
var encoding = base64.RawURLEncoding

// key is what push services know the deployment by: browsers subscribe for its public part.
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

// parseKey reads what Redis has. The error does not repeat it.
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

// claims are those of RFC 8292, 2. Who is to be asked about what we send is named where that is known.
type claims struct {
	Audience string `json:"aud"`
	Expires  int64  `json:"exp"`
	Subject  string `json:"sub,omitempty"`
}

// authorization is the header by which a push service knows who sends.
func (k *key) authorization(audience, subject string, now time.Time) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: k.private}, (&jose.SignerOptions{}).WithType("JWT"))
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
