package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

const (
	probeEvery = time.Second            // how old the last write may be
	probeAgain = 250 * time.Millisecond // how old the last refusal may be
	probeTags  = 64                     // hash tags among which one is looked for on each master of a cluster

	askWithin = time.Second // how long a write may take before it counts as failed
)

// ErrNoWrites reports that the store answers but refuses writes: its memory is full, or it has too few
// replicas.
var ErrNoWrites = errors.New("store refuses writes")

// written is a small script that writes, as every call does.
var written = redis.NewScript(`return redis.call('SET', KEYS[1], ARGV[1], 'PX', 10000)`)

// Probe checks whether the store, with Cluster each master, accepts writes. A PING alone does not show that.
type Probe struct {
	rdb   redis.UniversalClient
	names room.Names
	ping  func(context.Context) error

	mu   sync.Mutex // held while the store is asked: there is one question at a time
	at   time.Time
	last error // of the master with the index, at least
	some error // of other masters alone
}

// NewProbe returns a Probe. Without Cluster, Ask calls ping first.
func NewProbe(rdb redis.UniversalClient, names room.Names, ping func(context.Context) error) *Probe {
	return &Probe{rdb: rdb, names: names, ping: ping}
}

// Ask returns nil if the store accepts writes, or accepted one within the last second. With Cluster that is
// the master of the index, which every room needs.
//
// Another master that hangs makes no replica unready: every replica would see it, and a balancer would send
// the requests for all other masters' rooms to none.
func (p *Probe) Ask(ctx context.Context) error {
	if _, cluster := p.rdb.(*redis.ClusterClient); !cluster {
		if err := p.ping(ctx); err != nil {
			return err
		}
	}
	last, _ := p.ask(ctx)
	return last
}

// AskMasters returns the errors of a cluster's other masters, while the one with the index accepts writes.
func (p *Probe) AskMasters(ctx context.Context) error {
	_, some := p.ask(ctx)
	return some
}

func (p *Probe) ask(ctx context.Context) (last, some error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := probeEvery
	if p.last != nil || p.some != nil {
		known = probeAgain
	}
	if time.Since(p.at) >= known {
		// other callers get this result too, so one caller's end does not end the call
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
		defer cancel()
		failed := p.writes(within)
		p.last, p.some, p.at = errors.Join(failed...), nil, time.Now()
		if failed[0] == nil {
			p.last, p.some = nil, p.last
		}
	}
	return p.last, p.some
}

// Write writes to each master now, and returns the errors of all.
func (p *Probe) Write(ctx context.Context) error { return errors.Join(p.writes(ctx)...) }

// writes writes to all masters at the same time, and returns an error or nil for each, the index's first.
func (p *Probe) writes(ctx context.Context) []error {
	tags, err := p.tags(ctx)
	if err != nil {
		return []error{err}
	}
	failed := make([]error, len(tags))
	var all sync.WaitGroup
	for i, tag := range tags {
		all.Go(func() {
			if failed[i] = p.writeTo(ctx, tag); room.NoWrites(failed[i]) {
				failed[i] = fmt.Errorf("%w: %w", ErrNoWrites, failed[i])
			}
		})
	}
	all.Wait()
	return failed
}

func (p *Probe) writeTo(ctx context.Context, tag string) error {
	key := p.names.Key("{" + tag + "}:written")
	return written.Run(ctx, p.rdb, []string{key}, time.Now().UnixMilli()).Err()
}

const indexTag = "waitroom" // of the index of rooms

// tags returns one hash tag for each master, that of the index first.
func (p *Probe) tags(ctx context.Context) (tags []string, err error) {
	cluster, ok := p.rdb.(*redis.ClusterClient)
	if !ok {
		return []string{indexTag}, nil
	}
	found := make(map[*redis.Client]bool)
	for i := range probeTags {
		tag := indexTag
		if i > 0 {
			tag = "waitroom-probe-" + strconv.Itoa(i)
		}
		master, err := cluster.MasterForKey(ctx, "{"+tag+"}")
		if err != nil {
			return nil, err
		}
		if !found[master] {
			found[master] = true
			tags = append(tags, tag)
		}
	}
	return tags, nil
}
