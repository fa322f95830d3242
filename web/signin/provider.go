package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/internal/origin"
)

// errToken is ErrExpired for an invalid token of the provider; a retry may succeed.
var errToken = fmt.Errorf("%w: the provider's token is not right", ErrExpired)

// provider is discovered at the first sign-in, and again until it answers: the server starts without it.
type provider struct {
	cfg    OIDC
	log    *slog.Logger
	client *http.Client
	asking singleflight.Group
	known  atomic.Pointer[issuer]
}

// issuer is the provider's discovered configuration.
type issuer struct {
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
	logouts  *oidc.IDTokenVerifier // of tokens that anybody may send
	provider *oidc.Provider
}

// Fetches of the provider's keys for logout tokens with unknown ones: so many at once, then one in a while.
const (
	keysBurst = 5
	keysEvery = time.Second
)

// paced is a transport whose requests wait for their turn.
type paced struct {
	http.RoundTripper
	limit *rate.Limiter
}

// unknownKeys returns the transport for keys that tokens of anybody name.
func unknownKeys(t http.RoundTripper) http.RoundTripper {
	return paced{t, rate.NewLimiter(rate.Every(keysEvery), keysBurst)}
}

func (p paced) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := p.limit.Wait(r.Context()); err != nil {
		return nil, err
	}
	return p.RoundTripper.RoundTrip(r)
}

func newProvider(cfg OIDC, log *slog.Logger) *provider {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 5 * time.Second,
		DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10} // seldom used
	return &provider{cfg: cfg, log: log, client: &http.Client{Transport: transport, Timeout: 5 * time.Second,
		CheckRedirect: origin.KeepHTTPS}}
}

// find discovers the provider, once for concurrent callers. A cancelled caller does not cancel the others.
func (p *provider) find(ctx context.Context) (*issuer, error) {
	if at := p.known.Load(); at != nil {
		return at, nil
	}
	answer := p.asking.DoChan("", func() (any, error) { return p.discover() })
	select {
	case a := <-answer:
		if a.Err != nil {
			return nil, a.Err
		}
		return a.Val.(*issuer), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrAway, ctx.Err())
	}
}

func (p *provider) discover() (*issuer, error) {
	ctx := p.through(context.Background())
	found, err := oidc.NewProvider(ctx, p.cfg.Issuer)
	if err != nil {
		return nil, p.away(ctx, "the provider does not say what it is", err)
	}
	var offers struct {
		Scopes []string `json:"scopes_supported"`
	}
	if err := found.Claims(&offers); err != nil {
		return nil, p.away(ctx, "the provider does not say what it is", err)
	}
	scopes := []string{oidc.ScopeOpenID, "profile", "email"}
	if len(offers.Scopes) == 0 || slices.Contains(offers.Scopes, "groups") {
		scopes = append(scopes, "groups") // some providers refuse unknown scopes
	}
	logouts := *p.client
	logouts.Transport = unknownKeys(p.client.Transport)
	at := &issuer{
		oauth: oauth2.Config{ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret,
			RedirectURL: p.cfg.Redirect,
			Endpoint:    found.Endpoint(), Scopes: scopes},
		verifier: found.VerifierContext(ctx, &oidc.Config{ClientID: p.cfg.ClientID}),
		logouts: found.VerifierContext(oidc.ClientContext(ctx, &logouts),
			&oidc.Config{ClientID: p.cfg.ClientID}),
		provider: found,
	}
	p.known.Store(at)
	return at, nil
}

// through makes requests use this client, which has time-outs.
func (p *provider) through(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.client)
}

// redeem exchanges the browser's code for the provider's identity of the person. Refusals: ErrExpired,
// ErrAway.
func (p *provider) redeem(ctx context.Context, code string, b begun) (person, error) {
	at, err := p.find(ctx)
	if err != nil {
		return person{}, err
	}
	tokens, err := at.oauth.Exchange(p.through(ctx), code, oauth2.VerifierOption(b.Verifier))
	if err != nil {
		return person{}, p.refused(ctx, err)
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return person{}, p.away(ctx, "the provider gives no id_token", nil)
	}
	token, said, err := p.verify(ctx, at, raw, b.Nonce)
	if err != nil {
		p.log.WarnContext(ctx, "sign-in: the provider's token is not right", "error", err)
		return person{}, errToken
	}
	if said.Groups == nil && !said.tooMany() && at.provider.UserInfoEndpoint() != "" {
		more, err := p.userinfo(ctx, at, tokens, token.Subject)
		if err != nil {
			return person{}, err
		}
		said = said.or(more)
	}
	return personOf(token, said), nil
}

func (p *provider) verify(ctx context.Context, at *issuer, raw, nonce string) (*oidc.IDToken, claims, error) {
	token, err := at.verifier.Verify(p.through(ctx), raw)
	if err != nil {
		return nil, claims{}, err
	}
	var said claims
	err = token.Claims(&said)
	switch {
	case err != nil:
		return nil, claims{}, err
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(nonce)) != 1:
		return nil, claims{}, errors.New("nonce is another's")
	case said.Party != "" && said.Party != p.cfg.ClientID:
		return nil, claims{}, fmt.Errorf("made for %q", said.Party)
	case personOf(token, said).name == "":
		return nil, claims{}, errors.New("names no person")
	}
	return token, said, nil
}

// userinfo asks for the claims that some providers, such as Authelia, do not put into their tokens.
func (p *provider) userinfo(ctx context.Context, at *issuer, tokens *oauth2.Token, subject string) (claims,
	error) {
	const what = "the provider does not say who the person is (userinfo)"
	info, err := at.provider.UserInfo(p.through(ctx), oauth2.StaticTokenSource(tokens))
	if err != nil {
		return claims{}, p.away(ctx, what, withoutBody(err))
	}
	var said claims
	if err := info.Claims(&said); err != nil {
		return claims{}, p.away(ctx, what, err)
	}
	if info.Subject != subject { // OpenID Connect Core, section 5.3.2
		return claims{}, p.away(ctx, what, errors.New("another subject than the token's"))
	}
	return said, nil
}

// withoutBody returns an error of userinfo without the answer's body, which may hold anything.
func withoutBody(err error) error {
	if text := err.Error(); text[0] >= '0' && text[0] <= '9' { // status: body
		status, _, _ := strings.Cut(text, ":")
		return errors.New(status)
	}
	return err
}

// refused returns why there are no tokens. The provider's answer is not logged whole: it may hold some.
func (p *provider) refused(ctx context.Context, err error) error {
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok:
		return p.away(ctx, "the provider does not take codes", err)
	case answer.ErrorCode == "invalid_grant":
		return ErrExpired
	}
	return p.away(ctx, "the provider does not take codes",
		fmt.Errorf("%s, %q %q", answer.Response.Status, answer.ErrorCode, answer.ErrorDescription))
}

func (p *provider) away(ctx context.Context, what string, err error) error {
	p.log.WarnContext(ctx, "sign-in: "+what, "issuer", p.cfg.Issuer, "error", err)
	return fmt.Errorf("%w: %s", ErrAway, what)
}
