// Package wayback signs how a seller's place ended, for the portal that the seller returns to.
package wayback

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	jose "github.com/go-jose/go-jose/v4"
)

const (
	// Type is the header typ of these tokens. No seller is let in by one.
	Type = "waitroom-return+jwt"
	// Param is the query parameter that has the token.
	Param = "waitroom"
	// Lasts is how long a token is valid.
	Lasts = 60 * time.Second
)

// Signer makes tokens by HS256. It is safe for concurrent use.
type Signer struct{ signer jose.Signer }

// New returns a signer with a secret of at least 32 bytes.
func New(secret []byte) (*Signer, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: secret},
		(&jose.SignerOptions{}).WithType(Type))
	if err != nil {
		return nil, fmt.Errorf("way back: %w", err)
	}
	return &Signer{signer}, nil
}

// End is how a place ended.
type End struct {
	Room    string `json:"room"`
	Seller  string `json:"sub"`
	Ticket  int64  `json:"ticket"`
	Fence   int64  `json:"fence,omitempty"` // of its last lease; 0 = it had none
	Outcome string `json:"outcome"`
	Issuer  string `json:"iss"` // the server's address
}

// claims are an end with those of RFC 7519.
type claims struct {
	End
	Audience string `json:"aud"` // origin of the portal's address
	Issued   int64  `json:"iat"` // unix seconds, as the next
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"`
}

// originOf returns an address's origin as browsers write it: in small letters, without its scheme's port.
func originOf(u *url.URL) string {
	port := ":443"
	if u.Scheme == "http" {
		port = ":80"
	}
	return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Host), port)
}

// Address returns the portal's address with a token. The address keeps its query and fragment.
func (s *Signer) Address(portal string, e End, now time.Time) (string, error) {
	u, err := url.Parse(portal)
	if err != nil {
		return "", fmt.Errorf("way back: %w", err)
	}
	text, err := json.Marshal(claims{End: e, Audience: originOf(u), Issued: now.Unix(),
		Expires: now.Add(Lasts).Unix(), ID: rand.Text()})
	if err != nil { // texts and numbers always marshal
		return "", fmt.Errorf("way back: %w", err)
	}
	signed, err := s.signer.Sign(text)
	if err != nil {
		return "", fmt.Errorf("way back: %w", err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		return "", fmt.Errorf("way back: %w", err)
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += Param + "=" + token
	return u.String(), nil
}
