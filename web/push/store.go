package push

import (
	"context"
	"crypto/sha256"
	_ "embed" // of the script
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

//go:embed subscribe.lua
var subscribeSource string

var subscribeScript = redis.NewScript(subscribeSource)

const (
	// prefix begins the name of every key; its tag keeps them in one slot.
	prefix = "{waitroom-push}:"

	kept = 48 * time.Hour // longer than the longest line, for a place whose end was not reported
	most = 4              // browsers of one place
)

func (p *Pushes) keyName() string { return p.cfg.Names.Key(prefix + "key") }

func (p *Pushes) placeKey(id room.ID, ticket int64) string {
	// a room's id has no space
	return p.cfg.Names.Key(prefix+"place:") + string(id) + " " + strconv.FormatInt(ticket, 10)
}

// browserKey returns the key that records which place of a room a browser follows.
func browserKey(names room.Names, id room.ID, s Subscription) string {
	sum := sha256.Sum256([]byte(s.Endpoint))
	return names.Key(prefix+"browser:") + string(id) + " " + hex.EncodeToString(sum[:16])
}

// browserKeys returns the keys of stored subscriptions.
func browserKeys(names room.Names, id room.ID, texts ...string) (keys []string) {
	for _, text := range texts {
		if s, err := parseKept(text); err == nil {
			keys = append(keys, browserKey(names, id, s))
		}
	}
	return keys
}

// nameOf returns the public name of a place's subscription.
func nameOf(place string, s Subscription) string {
	sum := sha256.Sum256([]byte(place + " " + s.Endpoint))
	return hex.EncodeToString(sum[:16])
}

// Subscribe makes a browser receive a place's notifications. A place has at most `most` browsers: a further
// one replaces any of them, since Redis keeps no order of them. The error is the store's.
func (p *Pushes) Subscribe(ctx context.Context, id room.ID, ticket int64, s Subscription) error {
	if _, err := p.agree(ctx); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil { // texts always marshal
		return stored(errKept)
	}
	key := p.placeKey(id, ticket)
	gone, err := subscribeScript.Run(ctx, p.cfg.Redis, []string{key}, nameOf(key, s), text, kept.Milliseconds(),
		most).Text()
	if keys := browserKeys(p.cfg.Names, id, gone); err == nil && len(keys) > 0 {
		err = p.cfg.Redis.Del(ctx, keys...).Err()
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		return stored(err)
	}
	return p.leave(ctx, id, ticket, s)
}

// leave removes a browser from all other places of the room. A browser follows one, and its user may be
// another seller than before.
func (p *Pushes) leave(ctx context.Context, id room.ID, ticket int64, s Subscription) error {
	text, err := p.cfg.Redis.SetArgs(ctx, browserKey(p.cfg.Names, id, s), ticket,
		redis.SetArgs{TTL: kept, Get: true}).Result()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return stored(err)
	}
	if before, err := strconv.ParseInt(text, 10, 64); err == nil && before != ticket {
		return p.Unsubscribe(ctx, id, before, s)
	}
	return nil
}

// Unsubscribe removes one browser of a place. The error is the store's.
func (p *Pushes) Unsubscribe(ctx context.Context, id room.ID, ticket int64, s Subscription) error {
	return p.drop(ctx, id, ticket, nameOf(p.placeKey(id, ticket), s))
}

// Browsers returns the browsers to notify of events, by ticket. It skips subscriptions of another seller's
// place with the same ticket, from before the store lost data. The error is the store's.
func (p *Pushes) Browsers(ctx context.Context, id room.ID, happened []room.Record) (map[int64][]string,
	error) {
	keys := make([]string, len(happened))
	for i, r := range happened {
		keys[i] = p.placeKey(id, r.Ticket)
	}
	if n, err := p.cfg.Redis.Exists(ctx, keys...).Result(); err != nil || n == 0 {
		return nil, orNil(err)
	}
	found := make([]*redis.MapStringStringCmd, len(keys))
	_, err := p.cfg.Redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			found[i] = p.HGetAll(ctx, key)
		}
		return nil
	})
	if err != nil {
		return nil, stored(err)
	}
	browsers := make(map[int64][]string)
	for i, r := range happened {
		if browsers[r.Ticket] != nil {
			continue // the place has two events
		}
		for name, text := range found[i].Val() {
			if s, err := parseKept(text); err == nil && s.Seller == r.Seller {
				browsers[r.Ticket] = append(browsers[r.Ticket], name)
			}
		}
	}
	return browsers, nil
}

// Forget removes all subscriptions of ended places. The error is the store's.
func (p *Pushes) Forget(ctx context.Context, id room.ID, tickets ...int64) error {
	keys := make([]string, len(tickets))
	for i, ticket := range tickets {
		keys[i] = p.placeKey(id, ticket)
	}
	if n, err := p.cfg.Redis.Exists(ctx, keys...).Result(); err != nil || n == 0 {
		return orNil(err)
	}
	kept := make([]*redis.StringSliceCmd, len(keys))
	_, err := p.cfg.Redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			kept[i] = p.HVals(ctx, key)
		}
		return nil
	})
	if err != nil {
		return stored(err)
	}
	for _, texts := range kept {
		keys = append(keys, browserKeys(p.cfg.Names, id, texts.Val()...)...)
	}
	return orNil(p.cfg.Redis.Del(ctx, keys...).Err())
}

// find returns one subscription. Refusal: ErrGone.
func (p *Pushes) find(ctx context.Context, id room.ID, ticket int64, name string) (s Subscription,
	err error) {
	text, err := p.cfg.Redis.HGet(ctx, p.placeKey(id, ticket), name).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return s, ErrGone
	case err != nil:
		return s, stored(err)
	}
	return parseKept(text)
}

func (p *Pushes) drop(ctx context.Context, id room.ID, ticket int64, name string) error {
	return orNil(p.cfg.Redis.HDel(ctx, p.placeKey(id, ticket), name).Err())
}

// lose removes a browser whose subscription has ended.
func (p *Pushes) lose(ctx context.Context, to To, s Subscription) error {
	if err := p.drop(ctx, to.Room, to.Ticket, to.Browser); err != nil || s.Endpoint == "" {
		return err
	}
	return orNil(p.cfg.Redis.Del(ctx, browserKey(p.cfg.Names, to.Room, s)).Err())
}

// parseKept parses a stored subscription. The error does not repeat it.
func parseKept(text string) (s Subscription, err error) {
	if json.Unmarshal([]byte(text), &s) != nil {
		return s, fmt.Errorf("%w: %w", ErrGone, errKept)
	}
	return s, nil
}

// Erase removes every subscription for a seller's places and returns their number. The error is the store's.
func Erase(ctx context.Context, rdb redis.UniversalClient, names room.Names, seller string) (browsers int,
	err error) {
	places := names.Key(prefix + "place:")
	err = room.EachKey(ctx, rdb, places+"*", func(key string) error {
		kept, err := rdb.HGetAll(ctx, key).Result()
		if err != nil {
			return stored(err)
		}
		for name, text := range kept {
			if s, err := parseKept(text); err == nil && s.Seller != seller {
				continue
			}
			n, err := rdb.HDel(ctx, key, name).Result()
			if err != nil {
				return stored(err)
			}
			browsers += int(n)
			place, _, _ := strings.Cut(strings.TrimPrefix(key, places), " ")
			if keys := browserKeys(names, room.ID(place), text); len(keys) > 0 {
				if err := rdb.Del(ctx, keys...).Err(); err != nil {
					return stored(err)
				}
			}
		}
		return nil
	})
	return browsers, err
}

func orNil(err error) error {
	if err == nil {
		return nil
	}
	return stored(err)
}
