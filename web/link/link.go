// Package link lets a second browser continue with a place that another one has: by a link that works once, within minutes. Whoever uses it is
// never told the session of the place; its own session stands for that place, in that room, until the place is over.
//
// Redis holds digests of tokens and of sessions, and beside each what it leads to, sealed with that very token or session: who reads the
// store can follow no link and act for nobody.
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

// What is refused.
var (
	ErrNone = errors.New("there is no such link: it is over, or was replaced, or never was")
	ErrUsed = errors.New("link was used by another browser")
)

const (
	// Lasts is how long a link can be used.
	Lasts = 5 * time.Minute
	// kept is for how long a session stands for a place at the most: longer than a room keeps one.
	kept = 48 * time.Hour
	// most is how many browsers are let into one place: what is kept of them is bounded by the places that there are.
	most = 16
)

// Place is the place that a link leads to. Its session is a credential.
type Place struct {
	Session string `json:"session"`
	Ticket  int64  `json:"ticket"`
	Seller  string `json:"seller"`
}

// Is reports whether what the engine says of the place's session is of this place, live or ended, and not of a later one.
func (p Place) Is(seat room.Seat) bool { return seat.Ticket == p.Ticket }

// Links are the links of one deployment. They may be used by many goroutines.
type Links struct {
	redis redis.UniversalClient
	names room.Names
}

// New keeps links in a store, under these names.
func New(rdb redis.UniversalClient, names room.Names) *Links { return &Links{rdb, names} }

// Make makes a link to a place and says until when it can be used, in unix ms of Redis's clock. A place has one at a time: the one before is
// over. The error is the store's.
func (l *Links) Make(ctx context.Context, id room.ID, p Place) (token string, until int64, err error) {
	token = rand.Text()
	key := l.tokenKey(id, token)
	until, err = makeScript.Run(ctx, l.redis, []string{key, l.placeKey(id, p.Session)}, seal(token, key, p), Lasts.Milliseconds()).Int64()
	if err != nil {
		return "", 0, stored(err)
	}
	return token, until, nil
}

// Open says where a link leads, and whether the browser that asks has used it; it changes nothing. The session is the browser's, "" for none.
// Refusals: ErrNone, and ErrUsed where it was another browser.
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

// Use has a session stand for a place from now on, by a link that leads to it. Of several browsers one is let in; it may come again with the
// same link. Refusals: those of Open, and ErrUsed also where so many were let into the place that no more are.
func (l *Links) Use(ctx context.Context, id room.ID, token, session string, p Place) error {
	return l.use(ctx, id, token, session, seal(session, l.standKey(id, session), p), p)
}

// Spend uses a link up for a session that needs nothing more to act for the place. Refusals: those of Open.
func (l *Links) Spend(ctx context.Context, id room.ID, token, session string, p Place) error {
	return l.use(ctx, id, token, session, "", p)
}

func (l *Links) use(ctx context.Context, id room.ID, token, session, standing string, p Place) error {
	keys := []string{l.tokenKey(id, token), l.standKey(id, session), l.joinedKey(id, p.Session), l.browsersKey(id, p)}
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

// Standing is the place that a session was given by a link; ok is false where it was given none, or one that can not be read. Whether that place is
// live still is the engine's to say; see Place.Is. The error is the store's.
func (l *Links) Standing(ctx context.Context, id room.ID, session string) (p Place, ok bool, err error) {
	places, err := l.Standings(ctx, id, []string{session})
	if err != nil {
		return p, false, err
	}
	return places[0], places[0].Session != "", nil
}

// Standings is Standing for several sessions, in one question. Of one that was given none it is the zero Place.
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

// Joined reports whether another browser was let into the place of that ticket. The error is the store's.
func (l *Links) Joined(ctx context.Context, id room.ID, session string, ticket int64) (bool, error) {
	last, err := l.redis.Get(ctx, l.joinedKey(id, session)).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, stored(err)
	}
	return err == nil && last == ticket, nil
}

// End has a session stand for nothing but itself again.
func (l *Links) End(ctx context.Context, id room.ID, session string) error {
	if err := l.redis.Del(ctx, l.standKey(id, session)).Err(); err != nil {
		return stored(err)
	}
	return nil
}

// stored makes an error of the store known as one.
func stored(err error) error { return fmt.Errorf("%w: link: %w", room.ErrStore, err) }
