package push

import (
	"crypto/ecdh"
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

const (
	maxEndpoint = 2000 // bytes
	authBytes   = 16   // RFC 8291, 3.2
)

// Subscription is the address and key of one browser's notifications. It is a secret: its holder can send to
// the browser.
type Subscription struct {
	Endpoint string `json:"endpoint"` // of the browser's push service
	P256dh   []byte `json:"p256dh"`   // the browser's public key
	Auth     []byte `json:"auth"`
	Language string `json:"language"` // the seller's
	Seller   string `json:"seller"`   // the place's
	// the server's https URL when it was made, if any; names the sender to the push service
	Site string `json:"site"`
}

// String hides the subscription.
func (Subscription) String() string { return "***" }

// GoString hides it from %#v too.
func (Subscription) GoString() string { return "***" }

// Parse validates a browser's subscription. Refusal: ErrInvalid, which does not repeat it.
func (p *Pushes) Parse(endpoint, p256dh, auth string) (s Subscription, err error) {
	if err := p.checkEndpoint(endpoint); err != nil {
		return s, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	s.Endpoint = endpoint
	if s.P256dh, err = decode(p256dh); err == nil {
		_, err = ecdh.P256().NewPublicKey(s.P256dh)
	}
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrInvalid, errPoint)
	}
	if s.Auth, err = decode(auth); err != nil || len(s.Auth) != authBytes {
		return s, fmt.Errorf("%w: %w", ErrInvalid, errAuth)
	}
	return s, nil
}

// decode decodes base64url without padding, as browsers write it, or with it.
func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

// checkEndpoint refuses URLs that cannot be a push service's. The guard of newClient checks the resolved
// address at each dial.
func (p *Pushes) checkEndpoint(endpoint string) error {
	if len(endpoint) > maxEndpoint {
		return errEndpointLength
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return errEndpoint
	}
	if p.cfg.Loopback {
		return nil
	}
	if u.Scheme != "https" || (u.Port() != "" && u.Port() != "443") {
		return errEndpoint
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return errInternal
	}
	if ip, err := netip.ParseAddr(host); err == nil && guard.SafeAddr(ip.WithZone("")) != nil {
		return errInternal
	}
	return nil
}
