package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/doctor"
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
	cfg := s.cfg.tokens()
	cfg.Redis, cfg.Names, cfg.Log, cfg.Registerer = s.store.Client, s.engine.Names(), s.log, registry
	return identity.New(cfg)
}

// tokens returns the settings by which sellers' tokens are checked.
func (c *Config) tokens() identity.Config {
	cfg := identity.Config{Secrets: c.sellerSecrets(), KeysURL: c.SellerJWKSURL,
		Audiences: []string{audience}}
	if c.PublicURL != "" {
		cfg.Audiences = append(cfg.Audiences, c.PublicURL)
	}
	return cfg
}

// DiagnoseToken reports how a seller's token counts at a replica with these settings now, by this machine's
// clock; room "" is the default room. It uses no token up.
func DiagnoseToken(ctx context.Context, c Config, token, id string) []doctor.Finding {
	if c.SellerAuth != byToken {
		return []doctor.Finding{{About: "token", Level: doctor.Wrong, Text: "Sellers name themselves here.",
			Do: "Set " + called("seller-auth") + " to " + byToken + "."}}
	}
	at := room.ID(id)
	if at == "" {
		at, _ = c.Rooms.Default()
	}
	seller, bearer, link := identity.New(c.tokens()).Check(ctx, at, strings.TrimSpace(token), time.Now())
	way := func(how string, err error) doctor.Finding {
		if err == nil {
			return doctor.Finding{About: "token", Text: fmt.Sprintf("%s it is taken, for the seller %s.", how, seller)}
		}
		f := doctor.Finding{About: "token", Level: doctor.Wrong,
			Text: fmt.Sprintf("%s it is refused: %s.", how, cmp.Or(identity.Reason(err), err.Error())),
			Do:   "Correct it in the portal (docs/api.md, Sessions)."}
		if bearer == nil || link == nil {
			f.Level = doctor.Doubtful // a portal may use it in one way alone
		}
		return f
	}
	return []doctor.Finding{way("As Bearer", bearer), way("In an address", link)}
}
