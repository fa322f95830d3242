// Package reach keeps the choice of sellers whether their portal sends them a message when their turn is near.
package reach

import (
	"context"
	"fmt"
	"strconv"
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

// Choices are the sellers' choices, of all replicas. It is safe for concurrent use.
type Choices struct {
	rdb   redis.UniversalClient
	names room.Names
}

// New returns the choices in a Redis.
func New(rdb redis.UniversalClient, names room.Names) *Choices { return &Choices{rdb, names} }

func (c *Choices) key(id room.ID, ticket int64) string {
	// a room's id has no space
	return c.names.Key(prefix) + string(id) + " " + strconv.FormatInt(ticket, 10)
}

// Offer records that a place's seller has the choice, which is no until the seller chooses. Error:
// room.ErrStore.
func (c *Choices) Offer(ctx context.Context, id room.ID, ticket int64) error {
	err := c.rdb.SetArgs(ctx, c.key(id, ticket), no, redis.SetArgs{Mode: "NX", TTL: kept}).Err()
	if err == redis.Nil { // there is a choice
		err = nil
	}
	return stored(err)
}

// Choose records a seller's choice. Error: room.ErrStore.
func (c *Choices) Choose(ctx context.Context, id room.ID, ticket int64, wants bool) error {
	choice := no
	if wants {
		choice = yes
	}
	return stored(c.rdb.Set(ctx, c.key(id, ticket), choice, kept).Err())
}

// Chosen reports whether a place's seller chose to be sent a message. Error: room.ErrStore.
func (c *Choices) Chosen(ctx context.Context, id room.ID, ticket int64) (bool, error) {
	choice, err := c.rdb.Get(ctx, c.key(id, ticket)).Result()
	if err == redis.Nil {
		err = nil
	}
	return choice == yes, stored(err)
}

// Wanted reports for each place whether its portal may send a message: the seller chose it, or never had the
// choice. Error: room.ErrStore.
func (c *Choices) Wanted(ctx context.Context, id room.ID, tickets []int64) ([]bool, error) {
	keys, wanted := make([]string, len(tickets)), make([]bool, len(tickets))
	for i, ticket := range tickets {
		keys[i] = c.key(id, ticket)
	}
	choices, err := c.rdb.MGet(ctx, keys...).Result()
	for i, choice := range choices {
		wanted[i] = choice != no
	}
	return wanted, stored(err)
}

// stored marks an error of the store.
func stored(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: reach: %w", room.ErrStore, err)
}
