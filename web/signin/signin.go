// Package signin signs in members of support, by a password or by OpenID Connect. Redis keeps the sessions,
// so that they count on every replica. Integrations have tokens instead.
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

// The refusals.
var (
	ErrNotSignedIn = errors.New("no agent is signed in with this")
	ErrWrong       = errors.New("name or password is wrong")
	ErrNotAdmitted = errors.New("is in no group that may watch") // by OpenID Connect
	ErrExpired     = errors.New("sign-in was begun too long ago, or in another browser")
	// ErrDenied reports that the OpenID Connect provider sent an error instead of a code.
	ErrDenied = errors.New("the provider denied the sign-in")
	// ErrTooManyGroups reports a token without groups, because the person is in too many for it.
	ErrTooManyGroups = errors.New("is in too many groups for the provider's token")
)

// ErrAway reports that the OpenID Connect provider cannot be reached, or does not answer as one.
var ErrAway = errors.New("the provider of sign-ins is away")

// Limited reports too many tries: wrong ones of a name or an address, unfinished sign-ins, or concurrent
// checks.
type Limited struct{ After time.Duration }

func (l Limited) Error() string { return fmt.Sprintf("too many tries: wait %s", l.After) }

// Role is what a member of support may do.
type Role string

// The roles. An agent that may act may also watch.
const (
	Watch Role = "watch"
	Act   Role = "act"
)

// Agent is a signed-in member of support.
type Agent struct {
	Name  string
	Role  Role
	Key   string    // the public name of the sign-in; not a credential
	Until time.Time // the sign-in's end; zero for an integration, whose token has none

	Program bool // an integration, whose request sends its token
}

// Config configures a Desk. Log, Audit and Kept have defaults.
type Config struct {
	Redis redis.UniversalClient
	Names room.Names        // the names of its keys in Redis
	Users map[string]string // name → bcrypt hash
	OIDC  *OIDC             // instead of Users
	// Tokens are the integrations', beside the people of Users or OIDC.
	Tokens []Token
	Log    *slog.Logger
	// Audit records a sign-in or a try: action is signed_in, signed_out, sign_in_failed, sign_in_limited or
	// sign_in_refused. Agent is "?" for an unknown name: it may be a password typed into the wrong field.
	// Address is the client's; "" = unknown.
	Audit func(ctx context.Context, agent, address, action, reason string)

	Kept time.Duration // the length of a sign-in; default 8 h
}

// OIDC is an OpenID Connect provider.
type OIDC struct {
	Issuer, ClientID, ClientSecret string
	Redirect                       string // PUBLIC_URL/support/oidc/callback
	WatchGroup, ActGroup           string // "" admits no group
}

// Desk is the sign-in of one process. It is safe for concurrent use.
type Desk struct {
	cfg      Config
	secret   []byte   // keys the digests of typed texts
	decoys   []string // hashes without a password, one per user and of the same cost
	hashing  *semaphore.Weighted
	patience time.Duration // the longest wait of a check
	compare  func(hash, password []byte) error
	provider *provider // nil: by password
}

// New returns a Desk.
func New(cfg Config) *Desk {
	if cfg.Kept == 0 {
		cfg.Kept = 8 * time.Hour
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Audit == nil {
		cfg.Audit = func(context.Context, string, string, string, string) {}
	}
	d := &Desk{cfg: cfg, secret: secretOf(cfg), decoys: decoysOf(cfg.Users),
		hashing:  semaphore.NewWeighted(atOnce()),
		patience: 5 * time.Second, compare: bcrypt.CompareHashAndPassword}
	if cfg.OIDC != nil {
		d.provider = newProvider(*cfg.OIDC, cfg.Log)
	}
	return d
}

// ByPassword reports whether sign-in is by password; otherwise it is by OpenID Connect.
func (d *Desk) ByPassword() bool { return d.cfg.OIDC == nil }

// audit records an action even if the client hangs up at once.
func (d *Desk) audit(ctx context.Context, agent, address, action, reason string) {
	d.cfg.Audit(context.WithoutCancel(ctx), agent, address, action, reason)
}

// key returns a key's full name; the tag keeps all in one slot.
func (d *Desk) key(name string) string { return d.cfg.Names.Key("{waitroom-support}:" + name) }

// newToken returns an unguessable credential.
func newToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// tokenLength is the length of every credential; others are refused without a lookup.
var tokenLength = base64.RawURLEncoding.EncodedLen(32)

// digest replaces an unguessable credential in Redis.
func digest(credential string) string {
	sum := sha256.Sum256([]byte(credential))
	return hex.EncodeToString(sum[:])
}

// masked replaces a typed text in Redis, which could be guessed from a digest without a key.
func (d *Desk) masked(text string) string {
	mac := hmac.New(sha256.New, d.secret)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// secretOf returns a secret that is the same on all replicas, and not in Redis.
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

// stored marks an error of the store.
func stored(err error) error { return fmt.Errorf("%w: sign-in: %w", room.ErrStore, err) }
