package signin

import (
	"context"
	"crypto/rand"
	_ "embed" // of the script
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed onetime.lua
var oneTimeSource string

var oneTimeScript = redis.NewScript(oneTimeSource)

const (
	oneTimeName    = "support"
	oneTimeKept    = 24 * time.Hour
	oneTimeLetters = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's: no two look alike
	oneTimeLength  = 12                                 // of 5 bits each
)

// takesOneTime reports whether a one-time password is the way in: only without users and OpenID Connect.
func (d *Desk) takesOneTime() bool { return d.cfg.OIDC == nil && len(d.cfg.Users) == 0 }

func (d *Desk) oneTimeKey(password string) string {
	return d.key("onetime:" + digest(asMade(password)))
}

// asMade normalises a typed password.
func asMade(typed string) string {
	return strings.NewReplacer("-", "", " ", "", "o", "0", "i", "1", "l", "1").Replace(strings.ToLower(typed))
}

// OneTime makes a password for the user "support" that works once, within 24 hours, on any replica.
func (d *Desk) OneTime(ctx context.Context) (password string, err error) {
	random := make([]byte, oneTimeLength)
	_, _ = rand.Read(random) // never fails
	var b strings.Builder
	for i, r := range random {
		if i > 0 && i%4 == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(oneTimeLetters[int(r)%len(oneTimeLetters)])
	}
	if err := d.cfg.Redis.Set(ctx, d.oneTimeKey(b.String()), "unused", oneTimeKept).Err(); err != nil {
		return "", stored(err)
	}
	return b.String(), nil
}

// useOneTime begins the session in the step that uses the password up: no failure in between can waste it.
func (d *Desk) useOneTime(ctx context.Context, s session, password string) (token string, agent Agent,
	err error) {
	if s.Name != oneTimeName {
		return "", Agent{}, ErrWrong
	}
	token = newToken()
	key := digest(token)
	s = d.timed(s)
	used, err := oneTimeScript.Run(ctx, d.cfg.Redis,
		[]string{d.oneTimeKey(password), d.sessionKey(key), d.sessionsKey()}, s.encode(),
		s.left().Milliseconds(), s.Until, key, d.cfg.Kept.Milliseconds()).Int()
	switch {
	case err != nil:
		return "", Agent{}, stored(err)
	case used == 0:
		return "", Agent{}, ErrWrong
	}
	return token, s.agent(key, 0), nil
}
