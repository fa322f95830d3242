package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"regexp"
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

// There is a way to the provider.
type There struct {
	URL    string // at the provider
	State  string // which the provider sends back
	Cookie string // a secret, which the browser must return within ten minutes
}

// Back is what a browser brings from the provider.
type Back struct {
	Cookie, State    string // of There
	Code             string // for tokens; "" where the provider sent an error
	Error, ErrorText string // RFC 6749, section 4.1.2.1
}

// Begin starts a sign-in by OpenID Connect. Address is the client's, for the limit. Refusals: ErrAway,
// Limited; other errors are the store's.
func (d *Desk) Begin(ctx context.Context, next, address string) (There, error) {
	if d.provider == nil {
		return There{}, ErrAway
	}
	at, err := d.provider.find(ctx)
	if err != nil {
		return There{}, err
	}
	t, err := d.countOf(ctx, "?", address, d.begunFrom(address))
	if err != nil {
		return There{}, err
	}
	b := begun{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: SafeNext(next),
		Try: t.id}
	kept, err := json.Marshal(b)
	if err != nil { // strings always marshal
		panic(err)
	}
	cookie := newToken()
	if err := d.cfg.Redis.Set(ctx, d.begunKey(cookie), kept, begunKept).Err(); err != nil {
		return There{}, stored(err)
	}
	url := at.oauth.AuthCodeURL(b.State, oidc.Nonce(b.Nonce), oauth2.S256ChallengeOption(b.Verifier))
	return There{url, b.State, cookie}, nil
}

// Finish completes a sign-in; next is Begin's. Refusals: ErrExpired, ErrDenied, ErrNotAdmitted,
// ErrTooManyGroups, ErrAway; other errors are the store's.
func (d *Desk) Finish(ctx context.Context, back Back, address string) (token string, agent Agent, next string,
	err error) {
	b, err := d.take(ctx, back.Cookie)
	switch {
	case err != nil:
		return "", Agent{}, "", err
	case subtle.ConstantTimeCompare([]byte(back.State), []byte(b.State)) != 1:
		return "", Agent{}, "", ErrExpired
	case back.Error != "":
		return "", Agent{}, "", d.denied(ctx, back, address)
	case back.Code == "":
		return "", Agent{}, "", ErrExpired
	}
	p, err := d.provider.redeem(ctx, back.Code, b)
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

// errorName is the form of the errors' names in the specifications.
var errorName = regexp.MustCompile(`^[a-z_]{1,64}$`)

// denied records the error that the provider sent instead of a code, and returns the refusal.
func (d *Desk) denied(ctx context.Context, back Back, address string) error {
	name := back.Error
	if !errorName.MatchString(name) {
		name = "unknown"
	}
	d.cfg.Log.WarnContext(ctx, "sign-in: the provider sent an error", "issuer", d.cfg.OIDC.Issuer, "error", name,
		"description", visible(back.ErrorText, longestDescription))
	d.audit(ctx, "?", address, "sign_in_failed", "the provider sent the error "+name)
	if name == "temporarily_unavailable" || name == "server_error" {
		return ErrAway
	}
	return ErrDenied
}

// longestDescription is in characters.
const longestDescription = 300

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
		return "", Agent{}, d.refuse(ctx, p, address)
	}
	if token, agent, err = d.begin(ctx, s); err != nil {
		return "", Agent{}, err
	}
	d.audit(ctx, p.name, address, "signed_in", "by "+s.How+" as subject "+p.subject)
	return token, agent, nil
}

// refuse records why a person without a role is refused, and returns the refusal. What the operator has to
// change at the provider is in the log.
func (d *Desk) refuse(ctx context.Context, p person, address string) error {
	subject := "subject " + p.subject
	switch {
	case p.tooMany:
		d.cfg.Log.WarnContext(ctx, "sign-in: the provider leaves the groups of a person in too many groups out "+
			"of its token. Let it send only the groups that are assigned to waitroom", "issuer", d.cfg.OIDC.Issuer,
			"claim", "_claim_names")
		d.audit(ctx, p.name, address, "sign_in_refused", subject+" is in too many groups for the provider's token")
		return ErrTooManyGroups
	case p.groups == nil:
		d.cfg.Log.WarnContext(ctx, "sign-in: the provider sends no groups, neither in its token nor as userinfo. "+
			"Let it send the claim groups to waitroom", "issuer", d.cfg.OIDC.Issuer)
		d.audit(ctx, p.name, address, "sign_in_refused", "the provider sent no groups of "+subject)
	default:
		d.audit(ctx, p.name, address, "sign_in_refused", subject+" is in no group that may watch")
	}
	return ErrNotAdmitted
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
