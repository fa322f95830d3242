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
	last error
}

// NewProbe returns a Probe. Ask calls ping first.
func NewProbe(rdb redis.UniversalClient, names room.Names, ping func(context.Context) error) *Probe {
	return &Probe{rdb: rdb, names: names, ping: ping}
}

// Ask returns nil if the store accepts writes, or accepted one within the last second.
func (p *Probe) Ask(ctx context.Context) error {
	if err := p.ping(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := probeEvery
	if p.last != nil {
		known = probeAgain
	}
	if time.Since(p.at) >= known {
		// other callers get this result too, so one caller's end does not end the call
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
		defer cancel()
		p.last, p.at = p.Write(within), time.Now()
	}
	return p.last
}

// Write writes to each master now.
func (p *Probe) Write(ctx context.Context) error {
	tags, err := p.tags(ctx)
	if err != nil {
		return err
	}
	for _, tag := range tags {
		err := p.writeTo(ctx, tag)
		if room.NoWrites(err) {
			return fmt.Errorf("%w: %w", ErrNoWrites, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Probe) writeTo(ctx context.Context, tag int) error {
	key := p.names.Key("{waitroom-probe-" + strconv.Itoa(tag) + "}:written")
	return written.Run(ctx, p.rdb, []string{key}, time.Now().UnixMilli()).Err()
}

// tags returns one hash tag for each master; with a single master, any tag.
func (p *Probe) tags(ctx context.Context) ([]int, error) {
	cluster, ok := p.rdb.(*redis.ClusterClient)
	if !ok {
		return []int{0}, nil
	}
	var tags []int
	found := make(map[*redis.Client]bool)
	for tag := range probeTags {
		master, err := cluster.MasterForKey(ctx, "{waitroom-probe-"+strconv.Itoa(tag)+"}")
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
