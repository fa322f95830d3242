package room

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// generationFollower has the generation of the index that this process saw last. If the generation changes,
// Redis lost the index, and perhaps rooms with it.
type generationFollower struct {
	mu         sync.Mutex
	generation string
	busy       bool
}

// follow records the index's generation in a claim. If rooms may be missing in the index, it starts to
// rebuild the index.
func (e *Engine) follow(ctx context.Context, found claims, failed func(error)) {
	l := &e.generations
	l.mu.Lock()
	defer l.mu.Unlock()
	another := l.generation != "" && l.generation != found.generation
	if l.busy || (!another && found.whole) {
		l.generation = found.generation
		return
	}
	l.generation, l.busy = found.generation, true
	e.work.Go(func() {
		if another {
			e.replayAll(ctx, e.memory.observedRooms(), true)
		}
		if err := e.rebuild(ctx, found.generation); err != nil && ctx.Err() == nil {
			failed(err)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.busy = false
	})
}

// rebuiltWithin is how long a replica that rebuilds the index may be silent before another one takes over.
const rebuiltWithin = 2 * time.Second

// rebuild puts every room that Redis has into the index, also the rooms of a dead replica. One replica at a
// time rebuilds it.
func (e *Engine) rebuild(ctx context.Context, generation string) error {
	busy, whole := e.index.begin+"rebuilding", e.index.keys[4]
	mine, err := e.rdb.SetNX(ctx, busy, "1", rebuiltWithin).Result()
	if err != nil || !mine {
		return storeError("rebuild index", err)
	}
	err = e.eachStored(ctx, func(id ID) error {
		_, err := e.index.list(ctx, id)
		return errors.Join(err, e.rdb.PExpire(ctx, busy, rebuiltWithin).Err())
	})
	if err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	if err := e.rdb.Set(ctx, whole, generation, 0).Err(); err != nil {
		return storeError("rebuild index", err)
	}
	return storeError("rebuild index", e.rdb.Del(ctx, busy).Err())
}

func storeError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", ErrStore, doing, err)
}

// eachStored calls `found` with every room that has a state in Redis, but for the locks of the Go library.
func (e *Engine) eachStored(ctx context.Context, found func(ID) error) error {
	return EachKey(ctx, e.rdb, e.names.room("*")+"state", func(key string) error {
		id := e.names.Room(key)
		if strings.HasPrefix(string(id), LibraryPrefix) {
			return nil // the index does not have it
		}
		return found(id)
	})
}

// EachKey calls `found` with every key that matches a pattern, on all masters of a cluster.
//
// It passes one key at a time, and may pass a key twice. Errors: ErrStore, or the first error of `found`.
func EachKey(ctx context.Context, rdb redis.UniversalClient, pattern string,
	found func(key string) error) error {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		return eachKey(ctx, rdb, pattern, found)
	}
	var mu sync.Mutex
	return cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		return eachKey(ctx, c, pattern, func(key string) error {
			mu.Lock()
			defer mu.Unlock()
			return found(key)
		})
	})
}

func eachKey(ctx context.Context, c redis.Cmdable, pattern string, found func(key string) error) error {
	pages := c.Scan(ctx, 0, pattern, scanPiece).Iterator()
	for pages.Next(ctx) {
		if err := found(pages.Val()); err != nil {
			return err
		}
	}
	return storeError("list keys", pages.Err())
}
