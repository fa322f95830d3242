package server

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
)

// errNoWrites says that the store answers and takes no writes: its memory is full, or its replicas are gone.
var errNoWrites = errors.New("store refuses writes")

// written does in small what every call does: a script that writes.
var written = redis.NewScript(`return redis.call('SET', KEYS[1], ARGV[1], 'PX', 10000)`)

// probe tells whether the store takes what calls write, on a cluster every master of it. A sign of life is not enough.
type probe struct {
	rdb   redis.UniversalClient
	names room.Names
	ping  func(context.Context) error

	mu   sync.Mutex // held while the store is asked: there is one question at a time
	at   time.Time
	last error
}

func newProbe(rdb redis.UniversalClient, names room.Names, ping func(context.Context) error) *probe {
	return &probe{rdb: rdb, names: names, ping: ping}
}

// ask returns nil where the store answers and takes writes, or took one within the last second.
func (p *probe) ask(ctx context.Context) error {
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
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin) // others are told what comes of it
		defer cancel()
		p.last, p.at = p.write(within), time.Now()
	}
	return p.last
}

func (p *probe) write(ctx context.Context) error {
	tags, err := p.tags(ctx)
	if err != nil {
		return err
	}
	for _, tag := range tags {
		err := written.Run(ctx, p.rdb, []string{p.names.Key("{waitroom-probe-" + strconv.Itoa(tag) + "}:written")}, time.Now().UnixMilli()).Err()
		if room.NoWrites(err) {
			return fmt.Errorf("%w: %w", errNoWrites, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tags has one tag for each master; any will do where there is one master.
func (p *probe) tags(ctx context.Context) ([]int, error) {
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
