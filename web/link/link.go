// Package link lets a second browser continue with another browser's place, by a single-use link that expires
// within minutes. The second browser never receives the place's session; its own session stands for the
// place, in that room, until the place ends.
//
// Redis holds digests of tokens and sessions, each with a place sealed by that token or session: a reader of
// the store can follow no link and act for no seller.
package link

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// The refusals.
var (
	ErrNone = errors.New("there is no such link: it is over, or was replaced, or never was")
	ErrUsed = errors.New("link was used by another browser")
)

const (
	// Lasts is the lifetime of a link.
	Lasts = 5 * time.Minute
	// kept is the longest time a session stands for a place: longer than a room keeps one.
	kept = 48 * time.Hour
	// most bounds the browsers that join one place, and so the entries kept for it.
	most = 16
)

// Place is a link's target. Its session is a credential.
type Place struct {
	Session string `json:"session"`
	Ticket  int64  `json:"ticket"`
	Seller  string `json:"seller"`
}

// Is reports whether a seat of the place's session is this place, live or ended, not a later one.
func (p Place) Is(seat room.Seat) bool { return seat.Ticket == p.Ticket }

// Links manages the links of one deployment. It is safe for concurrent use.
type Links struct {
	redis redis.UniversalClient
	names room.Names
}

// New keeps links in a store, under these names.
func New(rdb redis.UniversalClient, names room.Names) *Links { return &Links{rdb, names} }

// Make makes a link to a place and returns its expiry in unix ms of Redis's clock. A place has one link at a
// time: a new one replaces it. The error is the store's.
func (l *Links) Make(ctx context.Context, id room.ID, p Place) (token string, until int64, err error) {
	token = rand.Text()
	key := l.tokenKey(id, token)
	until, err = makeScript.Run(ctx, l.redis, []string{key, l.placeKey(id, p.Session)}, seal(token, key, p),
		Lasts.Milliseconds()).Int64()
	if err != nil {
		return "", 0, stored(err)
	}
	return token, until, nil
}

// Open returns a link's place, and whether the caller's browser has used the link; it changes nothing. The
// session is the browser's, "" for none. Refusals: ErrNone, and ErrUsed if another browser used it.
func (l *Links) Open(ctx context.Context, id room.ID, token, session string) (p Place, used bool, err error) {
	key := l.tokenKey(id, token)
	fields, err := l.redis.HMGet(ctx, key, "place", "by").Result()
	if err != nil {
		return p, false, stored(err)
	}
	sealed, ok := fields[0].(string)
	if !ok {
		return p, false, ErrNone
	}
	by, used := fields[1].(string)
	if used && by != l.standKey(id, session) {
		return p, false, ErrUsed
	}
	return p, used, open(token, key, sealed, &p)
}

// Use makes a session stand for a link's place from now on. One browser may use a link; it may repeat the
// call. Refusals: those of Open, and ErrUsed if the place has its maximum of browsers.
func (l *Links) Use(ctx context.Context, id room.ID, token, session string, p Place) error {
	return l.use(ctx, id, token, session, seal(session, l.standKey(id, session), p), p)
}

// Spend uses a link up for a session that already acts for the place. Refusals: those of Open.
func (l *Links) Spend(ctx context.Context, id room.ID, token, session string, p Place) error {
	return l.use(ctx, id, token, session, "", p)
}

func (l *Links) use(ctx context.Context, id room.ID, token, session, standing string, p Place) error {
	keys := []string{l.tokenKey(id, token), l.standKey(id, session), l.joinedKey(id, p.Session),
		l.browsersKey(id, p)}
	done, err := useScript.Run(ctx, l.redis, keys, standing, kept.Milliseconds(), p.Ticket, most).Text()
	switch {
	case err != nil:
		return stored(err)
	case done == "none":
		return ErrNone
	case done == "used":
		return ErrUsed
	}
	return nil
}

// Standing returns the place that a session joined by a link; ok is false without a readable one. The place
// may have ended since; see Place.Is. The error is the store's.
func (l *Links) Standing(ctx context.Context, id room.ID, session string) (p Place, ok bool, err error) {
	places, err := l.Standings(ctx, id, []string{session})
	if err != nil {
		return p, false, err
	}
	return places[0], places[0].Session != "", nil
}

// Standings is Standing for several sessions in one call. It returns the zero Place for a session without
// one.
func (l *Links) Standings(ctx context.Context, id room.ID, sessions []string) ([]Place, error) {
	keys := make([]string, len(sessions))
	for i, session := range sessions {
		keys[i] = l.standKey(id, session)
	}
	kept, err := l.redis.MGet(ctx, keys...).Result()
	if err != nil {
		return nil, stored(err)
	}
	places := make([]Place, len(sessions))
	for i, session := range sessions {
		if sealed, ok := kept[i].(string); !ok || open(session, keys[i], sealed, &places[i]) != nil {
			places[i] = Place{}
		}
	}
	return places, nil
}

// Joined reports whether another browser joined the place of that ticket. The error is the store's.
func (l *Links) Joined(ctx context.Context, id room.ID, session string, ticket int64) (bool, error) {
	last, err := l.redis.Get(ctx, l.joinedKey(id, session)).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, stored(err)
	}
	return err == nil && last == ticket, nil
}

// End makes a session stand for itself again.
func (l *Links) End(ctx context.Context, id room.ID, session string) error {
	if err := l.redis.Del(ctx, l.standKey(id, session)).Err(); err != nil {
		return stored(err)
	}
	return nil
}

// stored marks an error of the store.
func stored(err error) error { return fmt.Errorf("%w: link: %w", room.ErrStore, err) }
