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
	Name  string `json:"name"`
	Role  Role   `json:"role"`
	How   string `json:"how"`
	By    string `json:"by,omitempty"` // digest of the settings that admitted it; "" from an older program
	Since int64  `json:"since,omitempty"`
	Until int64  `json:"until,omitempty"` // unix ms: its end, also where it is in use; 0 from an older program

	// of a sign-in by OpenID Connect: the provider's names of person and sign-in, and when it signed them
	Subject string `json:"subject,omitempty"`
	SID     string `json:"sid,omitempty"`
	Issued  int64  `json:"issued,omitempty"` // unix seconds

	ttl time.Duration // what was left of it without use when it was read
}

// A session ends after idle without use. Its use is written down once in usedEvery.
const (
	idle      = 30 * time.Minute
	usedEvery = time.Minute
)

func (d *Desk) sessionKey(key string) string { return d.key("session:" + key) }

// sessionsKey is the index of the sessions, by their ends.
func (d *Desk) sessionsKey() string { return d.key("sessions") }

// agent returns the session's agent; left is what is left of it where nothing else says so.
func (s session) agent(key string, left time.Duration) Agent {
	until := time.UnixMilli(s.Until)
	if s.Until == 0 {
		until = time.Now().Add(left)
	}
	return Agent{Name: s.Name, Role: s.Role, Key: key, Until: until}
}

// left returns how long the session lasts without use from now.
func (s session) left() time.Duration {
	return max(min(idle, time.Until(time.UnixMilli(s.Until))), time.Millisecond)
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
	s = d.timed(s)
	pipe := d.cfg.Redis.TxPipeline()
	pipe.Set(ctx, d.sessionKey(key), s.encode(), s.left())
	d.index(ctx, pipe, key, s)
	if _, err := pipe.Exec(ctx); err != nil {
		return "", Agent{}, stored(err)
	}
	return token, s.agent(key, 0), nil
}

// timed returns the session with its times, from now on.
func (d *Desk) timed(s session) session {
	now := time.Now()
	s.Since, s.Until = now.UnixMilli(), now.Add(d.cfg.Kept).UnixMilli()
	return s
}

// Agent returns the agent of a token. Refusal: ErrNotSignedIn; other errors are the store's.
func (d *Desk) Agent(ctx context.Context, token string) (Agent, error) {
	_, agent, err := d.find(ctx, token)
	return agent, err
}

// Use is Agent for a request of a person: the sign-in lasts for another idle.
func (d *Desk) Use(ctx context.Context, token string) (Agent, error) {
	s, agent, err := d.find(ctx, token)
	if err != nil || s.Until == 0 || s.ttl > s.left()-usedEvery {
		return agent, err
	}
	if err := d.cfg.Redis.PExpire(ctx, d.sessionKey(agent.Key), s.left()).Err(); err != nil {
		return Agent{}, stored(err)
	}
	return agent, nil
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
	s.ttl = left.Val()
	return s, s.agent(key, s.ttl), nil
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
	if err := d.end(ctx, agent.Key); err != nil { // also where the client has sent this twice
		return Agent{}, err
	}
	d.audit(ctx, agent.Name, address, "signed_out", "was signed in by "+s.How)
	return agent, nil
}
