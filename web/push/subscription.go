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

// Subscription is how one browser is told. Whoever has it can, so that it is kept like a secret.
type Subscription struct {
	Endpoint string `json:"endpoint"` // of the browser's push service
	P256dh   []byte `json:"p256dh"`   // what only the browser can read what is sealed for
	Auth     []byte `json:"auth"`
	Language string `json:"language"` // that the seller reads
	Seller   string `json:"seller"`   // whose place it is
	Site     string `json:"site"`     // what we were called when it was made, where that is https; who sends, to the push service
}

// String hides it.
func (Subscription) String() string { return "***" }

// GoString hides it from %#v too.
func (Subscription) GoString() string { return "***" }

// Parse reads what a browser gave a page. Refusal: ErrInvalid, which does not repeat it.
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

// decode reads what browsers write without the signs at its end, and some programs with them.
func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

// checkEndpoint refuses what no push service is at. Where a name leads is looked at when it is dialed, each time: see guarded.
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
