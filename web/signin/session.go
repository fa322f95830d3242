package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The ways of signing in.
const (
	byPassword = "password"
	byOneTime  = "one-time password"
	byOIDC     = "OpenID Connect"
)

// session is a sign-in in Redis, under its token's digest. It ends when the key expires.
type session struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	How  string `json:"how"`
	By   string `json:"by,omitempty"` // digest of the settings that admitted it; "" from an older program
}

func (d *Desk) sessionKey(key string) string { return d.key("session:" + key) }

// agent returns the session's agent, with a key and the time left.
func (s session) agent(key string, left time.Duration) Agent {
	return Agent{Name: s.Name, Role: s.Role, Key: key, Until: time.Now().Add(left)}
}

func (s session) encode() string {
	b, err := json.Marshal(s)
	if err != nil { // strings always marshal
		panic(err)
	}
	return string(b)
}

// begin opens a session; token is the credential.
func (d *Desk) begin(ctx context.Context, s session) (token string, agent Agent, err error) {
	token = newToken()
	key := digest(token)
	if err := d.cfg.Redis.Set(ctx, d.sessionKey(key), s.encode(), d.cfg.Kept).Err(); err != nil {
		return "", Agent{}, stored(err)
	}
	return token, s.agent(key, d.cfg.Kept), nil
}

// Agent returns the agent of a token. Refusal: ErrNotSignedIn; other errors are the store's.
func (d *Desk) Agent(ctx context.Context, token string) (Agent, error) {
	_, agent, err := d.find(ctx, token)
	return agent, err
}

func (d *Desk) find(ctx context.Context, token string) (session, Agent, error) {
	if len(token) != tokenLength {
		return session{}, Agent{}, ErrNotSignedIn
	}
	return d.look(ctx, digest(token))
}

// look reads a session by its key, in one round trip.
func (d *Desk) look(ctx context.Context, key string) (session, Agent, error) {
	pipe := d.cfg.Redis.Pipeline()
	value, left := pipe.Get(ctx, d.sessionKey(key)), pipe.PTTL(ctx, d.sessionKey(key))
	if _, err := pipe.Exec(ctx); errors.Is(err, redis.Nil) {
		return session{}, Agent{}, ErrNotSignedIn
	} else if err != nil {
		return session{}, Agent{}, stored(err)
	}
	var s session
	if err := json.Unmarshal([]byte(value.Val()), &s); err != nil {
		return session{}, Agent{}, stored(err)
	}
	if left.Val() <= 0 || !d.admits(s) {
		return session{}, Agent{}, ErrNotSignedIn
	}
	return s, s.agent(key, left.Val()), nil
}

// admits reports whether the current settings would admit an earlier session.
func (d *Desk) admits(s session) bool {
	if s.By != "" && s.By != d.by(s.Name, s.How) {
		return false
	}
	switch s.How {
	case byOIDC:
		return d.cfg.OIDC != nil
	case byPassword:
		return d.cfg.OIDC == nil && d.cfg.Users[s.Name] != ""
	case byOneTime:
		return d.takesOneTime()
	}
	return false
}

// by returns a digest of the settings that admit a person: a changed password or other groups end a sign-in.
func (d *Desk) by(name, how string) string {
	switch {
	case how == byOIDC && d.cfg.OIDC != nil:
		o := d.cfg.OIDC
		return digest(fmt.Sprintf("%q %q %q %q", o.Issuer, o.ClientID, o.WatchGroup, o.ActGroup))
	case how == byPassword:
		return digest(d.cfg.Users[name])
	}
	return ""
}

// KeyOf returns the Agent.Key of a token's sign-in, also after the session has ended.
func KeyOf(token string) string { return digest(token) }

// Signed reports whether the sign-in of this key is still valid.
func (d *Desk) Signed(ctx context.Context, key string) (bool, error) {
	if strings.HasPrefix(key, TokenPrefix) {
		return d.hasToken(key), nil
	}
	_, _, err := d.look(ctx, key)
	if errors.Is(err, ErrNotSignedIn) {
		return false, nil
	}
	return err == nil, err
}

// SignOut ends a session and returns its agent. Address is the client's. Refusal: ErrNotSignedIn.
func (d *Desk) SignOut(ctx context.Context, token, address string) (Agent, error) {
	s, agent, err := d.find(ctx, token)
	if err != nil {
		return Agent{}, err
	}
	// The count of deleted keys is ignored: the client may have sent this twice.
	if err := d.cfg.Redis.Del(ctx, d.sessionKey(agent.Key)).Err(); err != nil {
		return Agent{}, stored(err)
	}
	d.audit(ctx, agent.Name, address, "signed_out", "was signed in by "+s.How)
	return agent, nil
}
