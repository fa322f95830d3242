package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// midLease waits until a lease has just been granted in a room with more waiters, so that the loss affects a
// lease.
func (r *Run) midLease(ctx context.Context) error {
	return until(patience, func() error {
		for _, room := range r.rooms[:probe] {
			ttl, err := r.store.master(room).Client().PTTL(ctx, "{"+room+"}:lock").Result()
			if err != nil {
				return err
			}
			if ttl > r.plan.lease()*4/5 {
				return nil
			}
		}
		return errors.New("no seller has just been granted a lock")
	})
}

// flushAll empties Redis while clients use it.
func flushAll() Step {
	return Step{"FLUSHALL", func(ctx context.Context, r *Run) error {
		if err := r.midLease(ctx); err != nil {
			return err
		}
		return r.fault("FLUSHALL", nil, func() (string, error) {
			latest, size := r.history.Latest(), int64(0)
			for _, s := range r.store.servers() {
				n, err := s.Client().DBSize(ctx).Result()
				if err != nil {
					return "", err
				}
				size += n
				if err := s.Client().FlushAll(ctx).Err(); err != nil && !strings.HasPrefix(err.Error(), "READONLY") {
					return "", err
				}
			}
			return met(lost(latest, nil), fmt.Sprintf("%d keys", size))
		})
	}}
}

// met returns the evidence of a loss.
func met(rooms []string, more string) (string, error) {
	if len(rooms) == 0 {
		return "", fmt.Errorf("%w: nothing that was observed was lost", errUnmet)
	}
	return fmt.Sprintf("%s; behind what was observed: %s", more, strings.Join(rooms, ", ")), nil
}

// loseIndex deletes the index of rooms, without the rooms.
func loseIndex() Step {
	return Step{"the index is lost", func(ctx context.Context, r *Run) error {
		if err := r.midLease(ctx); err != nil {
			return err
		}
		err := r.fault("DEL of the index", nil, func() (string, error) {
			n, err := r.store.master("waitroom").Client().Del(ctx, "{waitroom}:due", "{waitroom}:registered").Result()
			if err == nil && n == 0 {
				err = fmt.Errorf("%w: there was no index", errUnmet)
			}
			return fmt.Sprintf("%d keys", n), err
		})
		if err == nil {
			r.awaitIndex(ctx)
		}
		return err
	}}
}

// awaitIndex requires that the index soon has every room again.
func (r *Run) awaitIndex(ctx context.Context) {
	began := time.Now()
	err := until(indexWithin, func() error {
		for _, room := range r.rooms {
			if err := r.store.master("waitroom").Client().ZScore(ctx, "{waitroom}:registered",
				room).Err(); err != nil {
				return fmt.Errorf("%s is not in the index: %w", room, err)
			}
		}
		return nil
	})
	if err != nil {
		r.trouble(IndexLost, "%v", err)
		return
	}
	r.history.Note("the index has every room after %d ms", time.Since(began).Milliseconds())
}

// indexWithin is how soon a lost index has to be rebuilt.
const indexWithin = 5 * time.Second

// cutPower kills Redis and removes from its append-only file what was written last.
func cutPower(last time.Duration) Step {
	return Step{"power cut: the last " + last.String() + " of the append-only file are gone",
		func(ctx context.Context, r *Run) error {
			s := r.store.master(r.rooms[0])
			w, err := r.awaitNews(ctx, s, last)
			if err != nil {
				return err
			}
			return r.faultSince(w.began, "power cut", nil, func() (string, error) {
				s.Kill()
				_, had, err := aof(s)
				if err == nil {
					err = os.Truncate(w.path, w.kept)
				}
				if err != nil {
					return "", err
				}
				latest := r.history.Latest()
				known, err := r.readDead(ctx, s)
				if err != nil {
					return "", err
				}
				s.Restart()
				return met(lost(latest, known), fmt.Sprintf("%d bytes of %d", had-w.kept, had))
			})
		}}
}

// window is the end of an append-only file.
type window struct {
	began Moment
	path  string
	kept  int64 // bytes before it
}

// awaitNews returns the end of the file once clients have observed something that is only there. While a
// crowd waits for leases to expire, there may be nothing for seconds.
func (r *Run) awaitNews(ctx context.Context, s *redistest.Server, last time.Duration) (w window, err error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if err = r.midLease(ctx); err != nil {
			return w, err
		}
		w.began = r.history.Now()
		if w.path, w.kept, err = aof(s); err != nil {
			return w, err
		}
		before, err := lineages(ctx, s.Client(), r.rooms) // at least what is kept
		if err != nil {
			return w, err
		}
		if err = pause(ctx, last); err != nil {
			return w, err
		}
		if len(lost(r.history.Latest(), before)) > 0 {
			return w, nil
		}
	}
	return w, fmt.Errorf("%w: no client observed anything new for %s", errUnmet, patience)
}

// aof returns the newest part of a server's append-only file, and its size.
func aof(s *redistest.Server) (path string, size int64, err error) {
	found, err := filepath.Glob(filepath.Join(s.Dir(), "appendonlydir", "*.incr.aof"))
	if err != nil || len(found) == 0 {
		return "", 0, fmt.Errorf("no append-only file in %s: %w", s.Dir(), err)
	}
	path = found[len(found)-1]
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, err
	}
	return path, info.Size(), nil
}

// readDead returns the rooms' versions in a killed server's files, read by a copy that no replica can change.
func (r *Run) readDead(ctx context.Context, s *redistest.Server) (map[string]lineage, error) {
	twin := redistest.StartWith(r.tb, redistest.Config{Args: []string{"--appendonly", "yes"}})
	twin.Stop()
	dir := filepath.Join(twin.Dir(), "appendonlydir")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(s.Dir(), "appendonlydir"))); err != nil {
		return nil, err
	}
	twin.Restart()
	defer twin.Kill()
	client := redis.NewClient(&redis.Options{Addr: twin.Addr()})
	defer func() { _ = client.Close() }()
	return lineages(ctx, client, r.rooms)
}

// emptyRedis kills Redis and starts it without its files.
func emptyRedis() Step {
	return Step{"Redis restarted empty", func(ctx context.Context, r *Run) error {
		s := r.store.master(r.rooms[0])
		if err := r.midLease(ctx); err != nil {
			return err
		}
		return r.fault("empty restart", nil, func() (string, error) {
			s.Kill()
			latest := r.history.Latest()
			if err := os.RemoveAll(filepath.Join(s.Dir(), "appendonlydir")); err != nil {
				return "", err
			}
			s.Restart()
			return met(lost(latest, nil), "all of it")
		})
	}}
}
