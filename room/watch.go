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
)

const (
	watchEvery  = 200 * time.Millisecond // several times in a recovery window
	watchWithin = 300 * time.Millisecond
)

// watch looks for a new replication history of the server until ctx ends. A server with a new history may
// lack writes that this process observed, and each room waits for their replay only during its recovery
// window.
func (e *Engine) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var known []string
	isNew := func(h string) bool { return !slices.Contains(known, h) }
	for {
		found, err := e.masters(ctx)
		var refused redis.Error
		switch {
		case errors.As(err, &refused) && (strings.HasPrefix(err.Error(), "ERR ") ||
			strings.HasPrefix(err.Error(), "NOPERM")):
			return // embedded Redis has no INFO replication, or this user has no permission
		case known != nil && slices.ContainsFunc(found, isNew): // also while another master hangs
			e.histories.Add(1)
			e.replayAll(ctx, e.memory.observedRooms(), false)
		}
		if err == nil {
			known = found
		} else if known != nil {
			known = append(known, slices.DeleteFunc(found, func(h string) bool { return !isNew(h) })...)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Histories returns how many new replication histories of the server this process has noticed since Sweep
// began.
//
// After each one Redis may have lost the last writes, so the replica has to record its sessions again, under
// another replica number.
func (e *Engine) Histories() int64 { return e.histories.Load() }

// masters returns the replication ids of the masters, which name their histories. With an error it returns
// those of the masters that answered.
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
		if !e.evicts.Load() && hasEvicted(c.Info(ctx, "stats").Val()) {
			e.evicts.Store(true)
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
		err = cluster.ForEachMaster(ctx, func(ctx context.Context,
			c *redis.Client) error {
			return ask(ctx, c)
		})
	} else {
		err = ask(ctx, e.rdb)
	}
	return slices.Collect(maps.Keys(found)), err
}

// hasEvicted reports whether a server has evicted keys, from its INFO.
func hasEvicted(info string) bool {
	_, after, found := strings.Cut(info, "\nevicted_keys:")
	return found && !strings.HasPrefix(after, "0")
}

// replayAll replays this process's observations to those rooms that lost some of them. If relist is true, it
// also puts each room into the index. The master of the rooms has just answered.
func (e *Engine) replayAll(ctx context.Context, list []ID, relist bool) {
	e.silent.forget() // else rooms of a master that is back would wait longer than their recovery window
	e.EachRoom(ctx, list, eachWithin, func(ctx context.Context, id ID) error {
		if relist {
			if _, err := e.index.list(ctx, id); err != nil {
				return err // the next call that uses the room registers it
			}
		}
		_, _, err := e.expire(ctx, id, e.cfg.LookEvery, "") // after a failure the next call replays
		return err
	})
}
