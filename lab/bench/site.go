package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/lab/stack"
)

// noDatabase is the URL of a ledger that cannot be reached, so that all of the replicas' work in Redis is
// caused by sellers.
const noDatabase = "postgres://nobody@127.0.0.1:1/none?sslmode=disable"

const (
	callers     = 32 // connections by which many places are made
	joinTries   = 4  // a store that is busy is asked again
	drainWithin = 90 * time.Second
)

// layout describes a deployment.
type layout struct {
	replicas int
	lease    time.Duration // default ten minutes: nothing ends by itself
	database string        // default a file of SQLite
}

// site is a deployment under measurement: a Redis, replicas and what else it needs.
type site struct {
	*stack.Stack
	addr     string // of Redis
	redis    *stack.Child
	rdb      *redis.Client
	replicas []*stack.Replica
}

// open starts a deployment. If it returns no error, the caller has to call Stop.
func (b *bench) open(ctx context.Context, l layout) (_ *site, err error) {
	s := &site{}
	if s.Stack, err = stack.New("waitroom-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.redis, s.addr, err = s.Redis(ctx); err != nil {
		return nil, err
	}
	s.rdb = redis.NewClient(&redis.Options{Addr: s.addr, ReadTimeout: requestWithin})
	s.Undo(func() { _ = s.rdb.Close() })
	for range l.replicas {
		if _, err := s.start(ctx, b, l); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// start adds a replica.
func (s *site) start(ctx context.Context, b *bench, l layout) (*stack.Replica, error) {
	if l.lease == 0 {
		l.lease = 10 * time.Minute
	}
	if l.database == "" {
		l.database = "sqlite:" + filepath.Join(s.Dir, "waitroom.db")
	}
	r, err := s.Replica(ctx, fmt.Sprint("replica ", len(s.replicas)+1), b.waitroom, []string{
		"WAITROOM_REDIS_URL=redis://" + s.addr, "WAITROOM_DATABASE_URL=" + l.database,
		"WAITROOM_ROOMS=bench,bench:*",
		"WAITROOM_LEASE=" + l.lease.String(), "WAITROOM_LOG_LEVEL=error", "WAITROOM_DRAIN_TIMEOUT=1s",
		// All sellers have one address here. An older replica warns about a setting that it does not know.
		"WAITROOM_RATE_LIMIT=0", "WAITROOM_PLACES_PER_IP=0", "WAITROOM_SOCKETS_PER_IP=0", "WAITROOM_ROOM_LIMIT=0",
	})
	if err == nil {
		s.replicas = append(s.replicas, r)
	}
	return r, err
}

// person is a seller with a session of its own.
type person struct {
	session string
	body    string // of its 준비 완료
	place   place  // of its join's answer
}

func newPerson() person {
	session := uuid.NewString()
	return person{session: session, body: `{"seller_id":"b-` + session[:13] + `"}`}
}

// people joins n sellers in random order; room returns the room of the n-th.
func (s *site) people(ctx context.Context, r *stack.Replica, n int, room func(int) string) ([]person, error) {
	all := make([]person, n)
	return all, each(ctx, r.Addr, callers, n, func(c *conn, i int) (err error) {
		all[i] = newPerson()
		for try := range joinTries { // the same session: the same place
			all[i].place, err = c.join(room(i), all[i])
			if !busy(err) || !stack.Pause(ctx, time.Duration(try)*time.Second) {
				break
			}
		}
		return err
	})
}

// each runs a function n times over several connections.
func each(ctx context.Context, addr string, connections, n int, do func(*conn, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for w := range min(connections, n) {
		group.Go(func() error {
			c, err := dial(addr)
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }()
			for i := w; i < n && ctx.Err() == nil; i += connections {
				if err := do(c, i); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// errBehind reports that the ledger does not catch up in time.
var errBehind = errors.New("the ledger does not catch up")

// drained waits until no room's journal holds an entry. Its error is errBehind if that takes too long.
func (s *site) drained(ctx context.Context) error {
	for end := time.Now().Add(drainWithin); ; {
		left, err := s.journals(ctx)
		if err != nil || left == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w: %d entries are left after %s", errBehind, left, drainWithin)
		}
		if !stack.Pause(ctx, 200*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// journals returns the number of entries in all rooms' journals.
func (s *site) journals(ctx context.Context) (left int64, err error) {
	var cursor uint64
	for {
		keys, next, err := s.rdb.ScanType(ctx, cursor, "*:journal", 1000, "stream").Result()
		if err != nil {
			return 0, err
		}
		lengths, err := s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, k := range keys {
				p.XLen(ctx, k)
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		for _, l := range lengths {
			left += l.(*redis.IntCmd).Val()
		}
		if cursor = next; cursor == 0 {
			return left, nil
		}
	}
}

// scripts returns how often scripts ran and how long in total, from Redis's own statistics.
func (s *site) scripts(ctx context.Context) (calls, micros float64, err error) {
	text, err := s.rdb.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		if !strings.HasPrefix(name, "eval") && !strings.HasPrefix(name, "fcall") {
			continue
		}
		for field := range strings.SplitSeq(rest, ",") {
			if text, ok := strings.CutPrefix(field, "calls="); ok {
				n, _ := strconv.ParseFloat(text, 64)
				calls += n
			}
			if text, ok := strings.CutPrefix(field, "usec="); ok {
				n, _ := strconv.ParseFloat(text, 64)
				micros += n
			}
		}
	}
	return calls, micros, nil
}
