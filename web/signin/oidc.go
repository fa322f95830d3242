package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/redis/go-redis/v9"
	"golang.org/x/oauth2"
)

// begunKept is the time a person has at the provider.
const begunKept = 10 * time.Minute

// begun is a sign-in whose browser is at the provider.
type begun struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	Next     string `json:"next"`
	Try      string `json:"try"` // the name of its counted try
}

func (d *Desk) begunKey(cookie string) string { return d.key("begun:" + digest(cookie)) }

// begunFrom limits an address's unfinished sign-ins: each is kept for as long as a try counts.
func (d *Desk) begunFrom(address string) limited {
	return limited{d.key("begun:address:" + d.masked(address)), triesFromAnIP,
		"too many sign-ins begun and not ended"}
}

// Begin starts a sign-in by OpenID Connect. It returns the provider's URL, and a cookie that the browser must
// return within ten minutes. Address is the client's, for the limit. Refusals: ErrAway, Limited; other errors
// are the store's.
func (d *Desk) Begin(ctx context.Context, next, address string) (url, cookie string, err error) {
	if d.provider == nil {
		return "", "", ErrAway
	}
	at, err := d.provider.find(ctx)
	if err != nil {
		return "", "", err
	}
	t, err := d.countOf(ctx, "?", address, d.begunFrom(address))
	if err != nil {
		return "", "", err
	}
	b := begun{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: SafeNext(next),
		Try: t.id}
	kept, err := json.Marshal(b)
	if err != nil { // strings always marshal
		panic(err)
	}
	cookie = newToken()
	if err := d.cfg.Redis.Set(ctx, d.begunKey(cookie), kept, begunKept).Err(); err != nil {
		return "", "", stored(err)
	}
	return at.oauth.AuthCodeURL(b.State, oidc.Nonce(b.Nonce), oauth2.S256ChallengeOption(b.Verifier)), cookie,
		nil
}

// Finish completes a sign-in; next is Begin's. Refusals: ErrExpired, ErrNotAdmitted, ErrAway; other errors
// are the store's.
func (d *Desk) Finish(ctx context.Context, cookie, state, code, address string) (token string, agent Agent,
	next string, err error) {
	b, err := d.take(ctx, cookie)
	if err != nil {
		return "", Agent{}, "", err
	}
	if subtle.ConstantTimeCompare([]byte(state), []byte(b.State)) != 1 || code == "" {
		return "", Agent{}, "", ErrExpired
	}
	p, err := d.provider.redeem(ctx, code, b)
	if err != nil {
		if errors.Is(err, errToken) {
			d.audit(ctx, "?", address, "sign_in_failed", "the provider's token is not right")
		}
		return "", Agent{}, "", err
	}
	if token, agent, err = d.admit(ctx, p, address); err == nil {
		d.giveBack(ctx, try{b.Try, []string{d.begunFrom(address).key}})
	}
	return token, agent, b.Next, err
}

// take returns a cookie's unfinished sign-in, once.
func (d *Desk) take(ctx context.Context, cookie string) (begun, error) {
	if d.provider == nil || len(cookie) != tokenLength {
		return begun{}, ErrExpired
	}
	kept, err := d.cfg.Redis.GetDel(ctx, d.begunKey(cookie)).Bytes()
	if errors.Is(err, redis.Nil) {
		return begun{}, ErrExpired
	}
	var b begun
	if err == nil {
		err = json.Unmarshal(kept, &b)
	}
	if err != nil {
		return begun{}, stored(err)
	}
	return b, nil
}

// admit begins the session of a person that the provider identified, with the role of their groups.
func (d *Desk) admit(ctx context.Context, p person, address string) (token string, agent Agent, err error) {
	s := session{Name: p.name, Role: d.cfg.OIDC.role(p.groups), How: byOIDC, By: d.by(p.name, byOIDC),
		Subject: p.id, SID: p.sid, Issued: p.issued}
	if s.Role == "" {
		d.audit(ctx, p.name, address, "sign_in_refused", "subject "+p.subject+" is in no group that may watch")
		return "", Agent{}, ErrNotAdmitted
	}
	if token, agent, err = d.begin(ctx, s); err != nil {
		return "", Agent{}, err
	}
	d.audit(ctx, p.name, address, "signed_in", "by "+s.How+" as subject "+p.subject)
	return token, agent, nil
}

// role returns the highest role of the groups; "" for none.
func (o OIDC) role(of groups) Role {
	switch {
	case of.has(o.ActGroup):
		return Act
	case of.has(o.WatchGroup):
		return Watch
	}
	return ""
}
