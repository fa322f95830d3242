package server

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/wayback"
)

const (
	byToken      = "jwt" // of SELLER_AUTH
	minJWTSecret = 32    // bytes: as many as HS256 produces (RFC 7518, 3.2)

	// audience is the audience of a seller's token at any deployment; PUBLIC_URL and a room's id are the
	// others.
	audience = "waitroom"
)

func readJWKS(c *Config, value string) error {
	u, err := url.Parse(value)
	if value != "" && (err != nil || !isHTTP(value) || u.User != nil ||
		(u.Scheme != "https" && !isLoopback(u.Hostname()))) {
		return errors.New("want an https URL such as https://portal.example/jwks.json (http on this machine only)")
	}
	c.SellerJWKSURL = value
	return nil
}

// finishSellers requires one way of checking tokens, or none.
func (c *Config) finishSellers() (wrong []error) {
	auth, secret, keys := called("seller-auth"), called("seller-jwt-secret"), called("seller-jwks-url")
	switch {
	case c.SellerAuth == byToken && c.SellerJWTSecret == "" && c.SellerJWKSURL == "":
		wrong = append(wrong, fmt.Errorf("%s is %q: it needs %s or %s", auth, byToken, secret, keys))
	case c.SellerAuth == byToken && c.SellerJWTSecret != "" && c.SellerJWKSURL != "":
		wrong = append(wrong, fmt.Errorf("%s and %s: choose one", secret, keys))
	case c.SellerAuth == "open" && c.SellerJWTSecret != "":
		wrong = append(wrong, fmt.Errorf("%s: it needs %s to be %q", secret, auth, byToken))
	case c.SellerAuth == "open" && c.SellerJWKSURL != "":
		wrong = append(wrong, fmt.Errorf("%s: it needs %s to be %q", keys, auth, byToken))
	}
	for _, one := range c.sellerSecrets() {
		if len(one) < minJWTSecret {
			wrong = append(wrong, fmt.Errorf("%s: want at least %d bytes, of each where a comma divides two",
				secret, minJWTSecret))
			break
		}
	}
	if c.ReturnSecret != "" && len(c.ReturnSecret) < minJWTSecret {
		wrong = append(wrong, fmt.Errorf("%s: want at least %d bytes", called("return-secret"), minJWTSecret))
	}
	return wrong
}

// sellerSecrets returns the secrets that the portal may sign with, of which the first signs the way back.
func (c *Config) sellerSecrets() (secrets [][]byte) {
	if c.SellerJWTSecret == "" {
		return nil
	}
	for one := range strings.SplitSeq(string(c.SellerJWTSecret), ",") {
		secrets = append(secrets, []byte(strings.TrimSpace(one)))
	}
	return secrets
}

// wayBack returns the signer of the way back to the portal; nil without a secret.
func (s *Server) wayBack() (*wayback.Signer, error) {
	if s.cfg.ReturnSecret != "" {
		return wayback.New([]byte(s.cfg.ReturnSecret))
	}
	if secrets := s.cfg.sellerSecrets(); len(secrets) > 0 {
		return wayback.New(secrets[0])
	}
	return nil, nil
}

// sellers returns the verifier of sellers; nil if sellers name themselves.
func (s *Server) sellers(registry *prometheus.Registry) *identity.Sellers {
	if s.cfg.SellerAuth != byToken {
		return nil
	}
	cfg := identity.Config{Redis: s.store.Client, Names: s.engine.Names(), Secrets: s.cfg.sellerSecrets(),
		KeysURL:   s.cfg.SellerJWKSURL,
		Audiences: []string{audience}, Log: s.log, Registerer: registry}
	if s.cfg.PublicURL != "" {
		cfg.Audiences = append(cfg.Audiences, s.cfg.PublicURL)
	}
	return identity.New(cfg)
}
