// Package signin knows who of support is signed in: by a password or by OpenID Connect, in sessions that Redis keeps, so that they
// count on every replica. Integrations have tokens instead.
package signin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/sync/semaphore"

	"github.com/waitroom/waitroom/room"
)

// What is refused.
var (
	ErrNotSignedIn = errors.New("nobody is signed in with this")
	ErrWrong       = errors.New("name or password is wrong")
	ErrNotAdmitted = errors.New("is in no group that may watch") // by OpenID Connect
	ErrExpired     = errors.New("sign-in was begun too long ago, or in another browser")
)

// ErrAway says that the OpenID Connect provider can not be reached, or does not answer as one.
var ErrAway = errors.New("the provider of sign-ins is away")

// Limited says that there were too many wrong tries, of a name or from an address, or sign-ins begun from there, or that too many are being checked right now.
type Limited struct{ After time.Duration }

func (l Limited) Error() string { return fmt.Sprintf("too many tries: wait %s", l.After) }

// Role is what a member of support may do.
type Role string

// The roles: who may act may watch.
const (
	Watch Role = "watch"
	Act   Role = "act"
)

// Agent is a member of support that is signed in.
type Agent struct {
	Name  string
	Role  Role
	Key   string    // what the sign-in is known by to others; it opens nothing
	Until time.Time // the sign-in ends; zero for an integration, whose token does not

	Program bool // it is an integration, and its request has its token
}

// Config says who may sign in and where that is kept. Zero durations and counts get the defaults.
type Config struct {
	Redis redis.UniversalClient
	Names room.Names        // what its keys are called
	Users map[string]string // name → bcrypt hash
	OIDC  *OIDC             // instead of Users
	// Tokens are the integrations', beside the people of Users or OIDC.
	Tokens []Token
	Log    *slog.Logger
	// Audit writes down who signed in, or tried to: action is signed_in, signed_out, sign_in_failed, sign_in_limited or
	// sign_in_refused. Who is "?" where the name is nobody's: it may be a password that went into the wrong field.
	Audit func(ctx context.Context, who, action, reason string)

	Kept time.Duration // how long a sign-in lasts; default 8 h
}

// OIDC is an OpenID Connect provider.
type OIDC struct {
	Issuer, ClientID, ClientSecret string
	Redirect                       string // PUBLIC_URL/support/oidc/callback
	WatchGroup, ActGroup           string // "" admits nobody
}

// Desk is the sign-in of one process. It may be used by many goroutines.
type Desk struct {
	cfg      Config
	secret   []byte   // keys the digests of what people type
	decoys   []string // hashes that no password has, one for each user and of the same cost
	hashing  *semaphore.Weighted
	patience time.Duration // how long a check may wait for its turn
	compare  func(hash, password []byte) error
	provider *provider // nil: by password
}

// New makes a desk.
func New(cfg Config) *Desk {
	if cfg.Kept == 0 {
		cfg.Kept = 8 * time.Hour
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Audit == nil {
		cfg.Audit = func(context.Context, string, string, string) {}
	}
	d := &Desk{cfg: cfg, secret: secretOf(cfg), decoys: decoysOf(cfg.Users), hashing: semaphore.NewWeighted(atOnce()),
		patience: 5 * time.Second, compare: bcrypt.CompareHashAndPassword}
	if cfg.OIDC != nil {
		d.provider = newProvider(*cfg.OIDC, cfg.Log)
	}
	return d
}

// ByPassword reports whether there are passwords to sign in with; else it is by OpenID Connect.
func (d *Desk) ByPassword() bool { return d.cfg.OIDC == nil }

// audit outlives the request: who hangs up at once is written down too.
func (d *Desk) audit(ctx context.Context, who, action, reason string) {
	d.cfg.Audit(context.WithoutCancel(ctx), who, action, reason)
}

// from is the end of an audit's reason.
func from(address string) string {
	if address == "" {
		return ", from an unknown address"
	}
	return ", from " + address
}

// key is what a key of that name is called; the tag keeps all in one slot.
func (d *Desk) key(name string) string { return d.cfg.Names.Key("{waitroom-support}:" + name) }

// newToken is a credential that can not be guessed.
func newToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// tokenLength is that of every credential of ours; what is longer or shorter need not be looked up.
var tokenLength = base64.RawURLEncoding.EncodedLen(32)

// digest stands in Redis for a credential that can not be guessed.
func digest(credential string) string {
	sum := sha256.Sum256([]byte(credential))
	return hex.EncodeToString(sum[:])
}

// masked stands in Redis for what a person typed, which could be guessed from a digest without a key.
func (d *Desk) masked(text string) string {
	mac := hmac.New(sha256.New, d.secret)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// secretOf is the same on all replicas, and is not in Redis.
func secretOf(cfg Config) []byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(cfg.Users)) {
		fmt.Fprintf(h, "%q %q\n", name, cfg.Users[name])
	}
	if cfg.OIDC != nil {
		fmt.Fprintf(h, "%q\n", cfg.OIDC.ClientSecret)
	}
	return h.Sum(nil)
}

// stored makes an error of the store known as one.
func stored(err error) error { return fmt.Errorf("%w: sign-in: %w", room.ErrStore, err) }
