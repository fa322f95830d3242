package signin

import (
	"context"
	"crypto/subtle"
	"slices"
	"strings"
)

// TokenPrefix begins the name of every integration in the audit. No person's name begins with it.
const TokenPrefix = "token:"

// Token lets an integration, such as a help desk, use support's API without a sign-in.
type Token struct {
	Name string // of the integration; two tokens may share it during a replacement
	Role Role
	Hash string // SHA-256 of the token, in lower-case hexadecimal
}

func (t Token) agentName() string { return TokenPrefix + t.Name }

func (t Token) agent() Agent {
	return Agent{Name: t.agentName(), Role: t.Role, Key: t.agentName(), Program: true}
}

// NewToken returns an unguessable token, and the hash that the settings hold.
func NewToken() (token, hash string) {
	token = "waitroom_" + newToken()
	return token, digest(token)
}

// TakesTokens reports whether any integration has a token.
func (d *Desk) TakesTokens() bool { return len(d.cfg.Tokens) > 0 }

// Token returns the integration of a token. Address is the client's, for the limit of unknown tokens.
// Refusals: ErrNotSignedIn, and Limited after too many from the address. Other errors are the store's. A
// known token is admitted without Redis, whatever else its address has sent.
func (d *Desk) Token(ctx context.Context, token, address string) (Agent, error) {
	if t, ok := d.integration(token); ok {
		return t.agent(), nil
	}
	limit := limited{d.key("tries:token:" + d.masked(address)), triesFromAnIP, "too many unknown tokens"}
	if _, err := d.countOf(ctx, "?", address, limit); err != nil {
		return Agent{}, err
	}
	d.audit(ctx, "?", address, "sign_in_failed", "unknown token")
	return Agent{}, ErrNotSignedIn
}

// integration compares a token with every hash, in constant time.
func (d *Desk) integration(token string) (found Token, ok bool) {
	given := []byte(digest(token))
	for _, t := range d.cfg.Tokens {
		if subtle.ConstantTimeCompare(given, []byte(t.Hash)) == 1 {
			found, ok = t, true
		}
	}
	return found, ok
}

// hasToken reports whether an integration known by this key still has a token.
func (d *Desk) hasToken(key string) bool {
	return slices.ContainsFunc(d.cfg.Tokens, func(t Token) bool { return t.agentName() == key })
}

// passesForToken reports whether a person's name looks like an integration's.
func passesForToken(name string) bool {
	return strings.HasPrefix(strings.ToLower(name), TokenPrefix)
}
