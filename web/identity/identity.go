// Package identity identifies sellers by signed tokens of the portal that they come from. A browser brings a
// token once, in the address, and gets a session that stands for the seller; a program sends one with each
// request.
//
// All proven sessions of a seller act as one session of the engine: they share one place in a room.
package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// The refusals.
var (
	ErrNotIdentified = errors.New("no seller is proven by this")
	ErrToken         = errors.New("token is not one that the portal signed for a seller")
	ErrExpired       = errors.New("token is too old")
	ErrEarly         = errors.New("token is of a time that has not come yet")
	ErrUsed          = errors.New("token was used before")
	ErrAudience      = errors.New("token is for another audience, or for another room")
	ErrAnother       = fmt.Errorf("%w: it is another seller's", room.ErrInvalidSession)
)

// ErrKeys reports that the portal's keys cannot be fetched, so a token can be neither accepted nor refused.
var ErrKeys = errors.New("the portal's keys can not be fetched")

const (
	// Kept is how long a session stands for its proven seller.
	Kept = 12 * time.Hour
	// linkAge is the maximum age of a token in an address.
	linkAge = 60 * time.Second
	// ahead is the tolerated lead of the portal's clock over Redis's.
	ahead = 10 * time.Second

	maxToken   = 8 << 10 // bytes
	remembered = 1 << 16 // sessions that one replica can restore after the store lost them
)

// Config configures Sellers. Either Secrets or KeysURL is set.
type Config struct {
	Redis      redis.UniversalClient
	Names      room.Names // the names of its keys in Redis
	Secrets    [][]byte   // of tokens signed by HS256: any of them, each of at least 32 bytes
	KeysURL    string     // of a JWKS, for tokens signed by RS256, ES256 or EdDSA
	Audiences  []string   // accepted values of aud, besides the room's id
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil: no metrics
}

// Sellers identifies the sellers of one process. It is safe for concurrent use.
type Sellers struct {
	cfg    Config
	keys   verifier
	known  *lru.Cache[string, record] // by the session's key in Redis
	root   *rootKey
	tokens *prometheus.CounterVec
	wrong  refusals
}

// New returns a Sellers. It fetches keys on first use.
func New(cfg Config) *Sellers {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	known, err := lru.New[string, record](remembered)
	if err != nil { // only for a size below 1
		panic(err)
	}
	s := &Sellers{cfg: cfg, known: known, root: newRootKey(),
		wrong: refusals{log: cfg.Log, kinds: make(map[string]*noted)},
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_seller_tokens_total",
			Help: "Sellers' tokens by how they came (link, bearer) and what was said of them."},
			[]string{"way", "result"})}
	if cfg.Registerer != nil {
		cfg.Registerer.MustRegister(s.tokens)
	}
	if cfg.KeysURL == "" {
		s.keys = secretKeys(cfg.Secrets)
	} else {
		s.keys = newKeySet(cfg.KeysURL, cfg.Log, cfg.Registerer)
	}
	return s
}

// Proof identifies the seller of a request.
type Proof struct {
	Seller  string // in NFC
	Session string // acts for the seller in the engine; sent only to clients that proved the seller by a token
	Known   string // the session that the caller knows
	Reach   string // how the portal can reach the seller, in words; "" = it can not

	rooms []string // where it is valid; nil: everywhere
	bound bool     // it is the session's own, without a token
}

// Link exchanges a token from an address for a new browser session of the seller, valid for Kept. A token
// works once across all replicas; the browser that used it may repeat it until it is too old. The browser's
// previous session, "" for none, adds its rooms if it stood for the same seller. Refusals: ErrToken,
// ErrExpired, ErrEarly, ErrUsed, ErrAudience; other errors are ErrKeys and room.ErrStore.
func (s *Sellers) Link(ctx context.Context, id room.ID, token, before string) (session string, err error) {
	session, err = s.link(ctx, id, token, before)
	s.count("link", err)
	return session, err
}

func (s *Sellers) link(ctx context.Context, id room.ID, token, before string) (string, error) {
	claims, err := s.verify(ctx, id, token)
	if err != nil {
		return "", err
	}
	found, err := s.find(ctx, before, claims.mark())
	if err != nil {
		return "", err
	}
	if err := claims.checkLink(found.now); err != nil {
		return "", err
	}
	if found.own && found.record.Seller == claims.seller { // the same link again
		return before, nil
	}
	r := record{Seller: claims.seller, Rooms: claims.rooms(id), Until: found.now + Kept.Milliseconds(),
		Reach: claims.reach}
	r = r.with(found.record)
	session := room.NewSession()
	if err := s.spend(ctx, claims, found.now, session, r); err != nil {
		return "", err
	}
	return session, nil
}

// Other is a seller whose browser brings another seller's token.
type Other struct {
	Seller  string    // "" = none
	Session string    // acts for the seller in the engine
	Rooms   []room.ID // where the browser's session is valid; nil: everywhere
}

// Displaced returns the seller whom Link would replace in the browser with this session, and changes nothing.
// Errors: those of Link.
func (s *Sellers) Displaced(ctx context.Context, id room.ID, token, before string) (other Other, err error) {
	claims, err := s.verify(ctx, id, token)
	if err != nil {
		s.count("link", err)
		return Other{}, err
	}
	found, err := s.find(ctx, before, claims.mark())
	if err == nil {
		err = claims.checkLink(found.now)
	}
	if err != nil {
		s.count("link", err)
		return Other{}, err
	}
	if found.record.Seller == "" || found.record.Seller == claims.seller {
		return Other{}, nil
	}
	other = Other{Seller: found.record.Seller, Session: found.root.session(found.record.Seller)}
	for _, id := range found.record.Rooms {
		other.Rooms = append(other.Rooms, room.ID(id))
	}
	return other, nil
}

// Bearer returns the proof of a token sent with a request. The token may be repeated until it expires, unless
// it was used in an address. The session is the one the request names, "" for none. Refusals: those of Link,
// and ErrAnother for another seller's session.
func (s *Sellers) Bearer(ctx context.Context, id room.ID, token, session string) (Proof, error) {
	p, err := s.bearer(ctx, id, token, session)
	s.count("bearer", err)
	return p, err
}

func (s *Sellers) bearer(ctx context.Context, id room.ID, token, session string) (Proof, error) {
	claims, err := s.verify(ctx, id, token)
	if err != nil {
		return Proof{}, err
	}
	found, err := s.find(ctx, session, claims.mark())
	if err != nil {
		return Proof{}, err
	}
	switch err := claims.checkBearer(found.now); {
	case err != nil:
		return Proof{}, err
	case found.spent:
		return Proof{}, refuse(ErrUsed, "it was in an address, and is no Bearer any more")
	case found.record.Seller != "" && found.record.Seller != claims.seller:
		return Proof{}, ErrAnother
	}
	p := Proof{Seller: claims.seller, Session: found.root.session(claims.seller), Known: session,
		Reach: claims.reach, rooms: claims.rooms(id)}
	if p.Known == "" {
		p.Known = p.Session
	}
	return p, nil
}

// Session returns the proof of a session. Refusal: ErrNotIdentified; other errors are the store's.
func (s *Sellers) Session(ctx context.Context, id room.ID, session string) (Proof, error) {
	if session == "" {
		return Proof{}, ErrNotIdentified
	}
	found, err := s.find(ctx, session, "")
	if err != nil {
		return Proof{}, err
	}
	if !found.record.admits(id) {
		return Proof{}, ErrNotIdentified
	}
	return Proof{Seller: found.record.Seller, Session: found.root.session(found.record.Seller), Known: session,
		Reach: found.record.Reach, bound: true}, nil
}

// Keep makes the session of a proof by token stand for the seller by itself for Kept from now on, also where
// it did already: a place that is joined now may have to wait, and its program sends no further token.
func (s *Sellers) Keep(ctx context.Context, p Proof) error {
	if p.bound {
		return nil
	}
	found, err := s.find(ctx, p.Known, "")
	if err != nil {
		return err
	}
	if other := found.record.Seller; other != "" && other != p.Seller { // bound since the proof
		return ErrAnother
	}
	r := record{Seller: p.Seller, Rooms: p.rooms, Until: found.now + Kept.Milliseconds(), Reach: p.Reach}
	return s.keep(ctx, p.Known, r.with(found.record))
}

func (s *Sellers) count(way string, err error) {
	result := resultOf(err)
	s.tokens.WithLabelValues(way, result).Inc()
	s.wrong.note(way, result, err)
}

// resultOf returns an error's metric label; it never contains a token's text.
func resultOf(err error) string {
	for _, known := range []struct {
		err  error
		text string
	}{{nil, "ok"}, {ErrToken, "invalid"}, {ErrExpired, "expired"}, {ErrEarly, "early"}, {ErrUsed, "used"},
		{ErrAudience, "audience"},
		{ErrKeys, "keys"}} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return "other"
}

// digest replaces in Redis a value that must not be readable there.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// stored marks an error of the store.
func stored(err error) error { return fmt.Errorf("%w: seller: %w", room.ErrStore, err) }
