// Package reach keeps each seller's choice whether the portal sends a message when the turn is near.
package reach

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

const (
	// prefix begins the name of every key; its tag keeps them in one slot.
	prefix = "{waitroom-reach}:"

	kept = 48 * time.Hour // longer than the longest line

	no, yes = "0", "1"
)

// Choices are the choices of all sellers, in every room and on every replica. It is safe for concurrent use.
type Choices struct {
	rdb   redis.UniversalClient
	names room.Names
}

// New returns the choices in a Redis.
func New(rdb redis.UniversalClient, names room.Names) *Choices { return &Choices{rdb, names} }

// key names a seller by a digest: the id itself is not to be readable there.
func (c *Choices) key(seller string) string {
	sum := sha256.Sum256([]byte(seller))
	return c.names.Key(prefix) + hex.EncodeToString(sum[:16])
}

// Offer records that a seller has the choice, which is no until the seller chooses, or keeps the earlier
// choice for as long again. Error: room.ErrStore.
func (c *Choices) Offer(ctx context.Context, seller string) error {
	_, err := c.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.SetArgs(ctx, c.key(seller), no, redis.SetArgs{Mode: "NX", TTL: kept})
		p.PExpire(ctx, c.key(seller), kept)
		return nil
	})
	return stored(err)
}

// Choose records a seller's choice. Error: room.ErrStore.
func (c *Choices) Choose(ctx context.Context, seller string, wants bool) error {
	choice := no
	if wants {
		choice = yes
	}
	return stored(c.rdb.Set(ctx, c.key(seller), choice, kept).Err())
}

// Chosen reports whether a seller chose to be sent a message. Error: room.ErrStore.
func (c *Choices) Chosen(ctx context.Context, seller string) (bool, error) {
	choice, err := c.rdb.Get(ctx, c.key(seller)).Result()
	return choice == yes, stored(err)
}

// Wanted reports for each seller whether its portal may send a message: the seller chose it, or never had the
// choice. Error: room.ErrStore.
func (c *Choices) Wanted(ctx context.Context, sellers []string) ([]bool, error) {
	keys, wanted := make([]string, len(sellers)), make([]bool, len(sellers))
	for i, seller := range sellers {
		keys[i] = c.key(seller)
	}
	choices, err := c.rdb.MGet(ctx, keys...).Result()
	for i, choice := range choices {
		wanted[i] = choice != no
	}
	return wanted, stored(err)
}

// Erase deletes a seller's choice. Error: room.ErrStore.
func (c *Choices) Erase(ctx context.Context, seller string) error {
	return stored(c.rdb.Del(ctx, c.key(seller)).Err())
}

// stored marks an error of the store. That nothing was there, or was kept, is none.
func stored(err error) error {
	if err == nil || errors.Is(err, redis.Nil) {
		return nil
	}
	return fmt.Errorf("%w: reach: %w", room.ErrStore, err)
}
