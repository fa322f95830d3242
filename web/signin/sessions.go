package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// SignedIn is a live sign-in, as an administrator sees it.
type SignedIn struct {
	Key   string // its public name; not a credential
	Name  string
	Role  Role
	How   string
	Since int64 // unix ms
	Until int64 // unix ms: its end where it is in use until then
}

// index adds a session to the index, and removes those that are over.
func (d *Desk) index(ctx context.Context, pipe redis.Pipeliner, key string, s session) {
	pipe.ZRemRangeByScore(ctx, d.sessionsKey(), "-inf", strconv.FormatInt(s.Since, 10))
	pipe.ZAdd(ctx, d.sessionsKey(), redis.Z{Score: float64(s.Until), Member: key})
	pipe.PExpire(ctx, d.sessionsKey(), d.cfg.Kept)
}

// SignedIn returns the live sign-ins, latest first. The error is the store's.
func (d *Desk) SignedIn(ctx context.Context) ([]SignedIn, error) {
	var list []SignedIn
	err := d.each(ctx, func(key string, s session) {
		list = append(list, SignedIn{Key: key, Name: s.Name, Role: s.Role, How: s.How,
			Since: s.Since, Until: s.Until})
	})
	slices.SortFunc(list, func(a, b SignedIn) int { return cmp.Compare(b.Since, a.Since) })
	return list, err
}

// each calls f for every live session, and removes the others from the index.
func (d *Desk) each(ctx context.Context, f func(key string, s session)) error {
	keys, err := d.cfg.Redis.ZRange(ctx, d.sessionsKey(), 0, -1).Result()
	if err != nil {
		return stored(err)
	}
	for _, key := range keys {
		s, _, err := d.look(ctx, key)
		switch {
		case errors.Is(err, ErrNotSignedIn):
			err = d.cfg.Redis.ZRem(ctx, d.sessionsKey(), key).Err()
		case err == nil:
			f(key, s)
		}
		if err != nil {
			return stored(err)
		}
	}
	return nil
}

// End ends the sign-in of a key, for an administrator; the caller closes its sockets. Refusal:
// ErrNotSignedIn; other errors are the store's.
func (d *Desk) End(ctx context.Context, key, by, address, reason string) error {
	s, _, err := d.look(ctx, key)
	if err != nil {
		return err
	}
	if err := d.end(ctx, key); err != nil {
		return err
	}
	d.audit(ctx, by, address, "sign_in_ended", "of "+s.Name+": "+reason)
	return nil
}

// end deletes a session.
func (d *Desk) end(ctx context.Context, key string) error {
	pipe := d.cfg.Redis.TxPipeline()
	pipe.Del(ctx, d.sessionKey(key))
	pipe.ZRem(ctx, d.sessionsKey(), key)
	if _, err := pipe.Exec(ctx); err != nil {
		return stored(err)
	}
	return nil
}

// ProviderSignOut ends the sign-ins of a provider's logout token (OpenID Connect Back-Channel Logout 1.0). It
// returns their keys: the caller closes their sockets. A sign-in that the provider admitted after it signed
// the token goes on, so that a repeated token does no harm. Refusals: ErrExpired, ErrAway, Limited after too
// many wrong tokens of the address; other errors are the store's. A right token counts whatever else its
// address has sent.
func (d *Desk) ProviderSignOut(ctx context.Context, token, address string) (keys []string, err error) {
	if d.provider == nil {
		return nil, ErrExpired
	}
	out, err := d.provider.logout(ctx, token)
	if errors.Is(err, errToken) {
		return nil, d.wrongLogout(ctx, address, err)
	}
	if err != nil {
		return nil, err
	}
	found := make(map[string]string)
	err = d.each(ctx, func(key string, s session) {
		if out.ends(s) {
			found[key] = s.Name
		}
	})
	for key, name := range found {
		if err == nil {
			err = d.end(ctx, key)
		}
		if err != nil {
			return keys, err
		}
		d.audit(ctx, name, address, "signed_out", "by the provider")
		keys = append(keys, key)
	}
	return keys, err
}

// wrongLogout counts a wrong logout token, and returns its refusal. Those beyond the limit are not logged.
func (d *Desk) wrongLogout(ctx context.Context, address string, refused error) error {
	from := limited{d.key("logout:address:" + d.masked(address)), triesFromAnIP, "too many wrong logout tokens"}
	if _, err := d.countOf(ctx, "?", address, from); err != nil {
		return err
	}
	d.cfg.Log.WarnContext(ctx, "sign-out: the provider's token is not right", "error", refused)
	return refused
}

// ends reports whether the provider's sign-out is of a session. Of a sign-in whose ID token named no session
// the subject decides.
func (o providerLogout) ends(s session) bool {
	session := o.sid == "" || o.sid == s.SID || s.SID == "" && o.subject != ""
	return s.How == byOIDC && s.Issued <= o.issued && session && (o.subject == "" || o.subject == s.Subject)
}

// providerLogout is a verified logout token. One of subject and sid may be "".
type providerLogout struct {
	subject, sid string
	issued       int64 // unix seconds
}

// logout verifies a logout token. Refusals: ErrExpired, ErrAway.
func (p *provider) logout(ctx context.Context, raw string) (providerLogout, error) {
	at, err := p.find(ctx)
	if err != nil {
		return providerLogout{}, err
	}
	token, err := at.logouts.VerifyLogout(p.through(ctx), raw)
	if err == nil && (token.IssuedAt.IsZero() || token.IssuedAt.After(time.Now().Add(time.Minute))) {
		err = errors.New("issued in the future, or at no time")
	}
	if err != nil {
		return providerLogout{}, fmt.Errorf("%w: %w", errToken, err)
	}
	return providerLogout{token.Subject, token.SessionID, token.IssuedAt.Unix()}, nil
}
