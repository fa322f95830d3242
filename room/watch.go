package room

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

const (
	watchEvery    = 200 * time.Millisecond // several times in DOUBT of lineage.lua
	watchWithin   = 300 * time.Millisecond
	replaysAtOnce = 16 // rooms
)

// watch looks for another history of the server until ctx ends. One that began may not have what this process has observed of its rooms, and each
// room waits only so long for a replay.
func (e *Engine) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var known []string
	for {
		found, err := e.masters(ctx)
		var unanswered redis.Error
		switch {
		case errors.As(err, &unanswered) && (strings.HasPrefix(err.Error(), "ERR ") || strings.HasPrefix(err.Error(), "NOPERM")):
			return // it does not say: an embedded store, or one that this user may not ask
		case err == nil && known != nil && slices.ContainsFunc(found, func(h string) bool { return !slices.Contains(known, h) }):
			e.histories.Add(1)
			e.replayAll(ctx, e.memory.observedRooms(), false)
		}
		if err == nil {
			known = found
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Histories is how many other histories of the server this process has noticed, while Sweep runs. After each the store may have lost the last writes:
// who is connected to this replica has to be told again, under another host number.
func (e *Engine) Histories() int64 { return e.histories.Load() }

// masters are the names of the histories of the masters.
func (e *Engine) masters(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, watchWithin)
	defer cancel()
	var mu sync.Mutex
	found := make(map[string]bool)
	ask := func(ctx context.Context, c redis.Cmdable) error {
		info, err := c.Info(ctx, "replication").Result()
		if err != nil {
			return err
		}
		_, after, _ := strings.Cut(info, "master_replid:")
		name, _, _ := strings.Cut(after, "\r")
		mu.Lock()
		defer mu.Unlock()
		found[name] = true
		return nil
	}
	var err error
	if cluster, ok := e.rdb.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return ask(ctx, c) })
	} else {
		err = ask(ctx, e.rdb)
	}
	return slices.Collect(maps.Keys(found)), err
}

// replayAll replays to rooms what this process has observed of them, where they do not have it in their past; relist also puts each into the index.
func (e *Engine) replayAll(ctx context.Context, list []ID, relist bool) {
	var rooms errgroup.Group
	rooms.SetLimit(replaysAtOnce)
	for _, id := range list {
		rooms.Go(func() error {
			if relist {
				if _, err := e.index.list(ctx, id); err != nil {
					return nil // whoever uses it registers it
				}
			}
			_, _, _ = e.expire(ctx, id, e.cfg.LookEvery, "") // what fails is replayed when the room is used
			return nil
		})
	}
	_ = rooms.Wait()
}
