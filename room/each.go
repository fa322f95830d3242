package room

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

const (
	eachAtOnce = 16              // rooms of one master at the same time
	eachWithin = 2 * time.Second // for one room, or one round trip; the store's client waits as long

	masterAgainFirst = 250 * time.Millisecond // until a silent master is tried again; twice as long each time
	masterAgainLast  = time.Second
)

// errSilent is the error of rooms whose master did not answer another call just before.
var errSilent = fmt.Errorf("%w: the room's master did not answer a moment ago", ErrStore)

// EachRoom calls f for each room, and returns the errors by room; rooms without an error are done.
//
// All work over many rooms goes through it, so that no room waits for the master of another one. It works on
// the rooms of all masters at the same time, on at most 16 of each. The context of a call of f ends after
// `within`. Once a master has not answered a call, its other rooms fail at once with ErrStore, for up to a
// second, in this call and in later ones. f must be safe for concurrent use.
func (e *Engine) EachRoom(ctx context.Context, ids []ID, within time.Duration,
	f func(context.Context, ID) error) map[ID]error {
	var failed failures
	var all sync.WaitGroup
	for master, rooms := range e.byMaster(ctx, ids) {
		all.Go(func() { e.eachOf(ctx, master, rooms, within, &failed, f) })
	}
	all.Wait()
	return failed.rooms
}

// eachOf is EachRoom for rooms of one master.
func (e *Engine) eachOf(ctx context.Context, master string, ids []ID, within time.Duration, failed *failures,
	f func(context.Context, ID) error) {
	one := func(id ID) {
		err := e.ofMaster(ctx, master, within, func(ctx context.Context) error { return f(ctx, id) })
		if err != nil {
			failed.add(err, id)
		}
	}
	if e.silent.has(master) && len(ids) > 0 { // one room finds out whether the master answers again
		one(ids[0])
		ids = ids[1:]
	}
	var some errgroup.Group
	some.SetLimit(eachAtOnce)
	for _, id := range ids {
		some.Go(func() error { one(id); return nil })
	}
	_ = some.Wait()
}

// eachMaster calls f with the rooms of each master, as EachRoom does with each room.
func (e *Engine) eachMaster(ctx context.Context, ids []ID, f func(context.Context, []ID) error) map[ID]error {
	var failed failures
	var all sync.WaitGroup
	for master, rooms := range e.byMaster(ctx, ids) {
		all.Go(func() {
			err := e.ofMaster(ctx, master, eachWithin, func(ctx context.Context) error { return f(ctx, rooms) })
			if err != nil {
				failed.add(err, rooms...)
			}
		})
	}
	all.Wait()
	return failed.rooms
}

// ofMaster makes one call of a master, unless the master is silent.
func (e *Engine) ofMaster(ctx context.Context, master string, within time.Duration,
	call func(context.Context) error) error {
	if e.silent.waits(master) {
		return errSilent
	}
	own, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := call(own)
	switch {
	case !unanswered(err):
		e.silent.answered(master)
	case ctx.Err() == nil: // else the caller has ended the call
		e.silent.failed(master)
	}
	return err
}

// byMaster returns rooms by the address of their master, as this process knows the cluster. Without Cluster
// the address is empty.
func (e *Engine) byMaster(ctx context.Context, ids []ID) map[string][]ID {
	by := make(map[string][]ID)
	cluster, _ := e.rdb.(*redis.ClusterClient)
	for _, id := range ids {
		master := ""
		if cluster != nil {
			if c, err := cluster.MasterForKey(ctx, e.names.Lock(id)); err == nil { // else the calls fail
				master = c.Options().Addr
			}
		}
		by[master] = append(by[master], id)
	}
	return by
}

// MasterOf returns the client of the master that has a key or the key's channel; without Cluster, the client
// itself.
//
// By itself a Cluster's client publishes at any master, and subscribes at that of any channel. One that hangs
// would then hold up messages that need only the other masters.
func MasterOf(ctx context.Context, rdb redis.UniversalClient, key string) redis.UniversalClient {
	if cluster, ok := rdb.(*redis.ClusterClient); ok {
		if master, err := cluster.MasterForKey(ctx, key); err == nil {
			return master
		}
	}
	return rdb
}

// unanswered reports whether a call of the store had no answer, so that the next call of the same master
// would wait too.
func unanswered(err error) bool {
	var broken net.Error
	return errors.Is(err, ErrStore) && (errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, redis.ErrPoolTimeout) || errors.As(err, &broken))
}

// failures has the errors of rooms. The zero value is ready.
type failures struct {
	mu    sync.Mutex
	rooms map[ID]error
}

func (f *failures) add(err error, ids ...ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rooms == nil {
		f.rooms = make(map[ID]error)
	}
	for _, id := range ids {
		f.rooms[id] = err
	}
}

// silentMasters has the masters that did not answer lately, by address. The zero value is ready.
type silentMasters struct {
	mu  sync.Mutex
	all map[string]silence
}

type silence struct {
	wait  time.Duration
	until time.Time // when the next call may try the master
}

func (s *silentMasters) has(master string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.all[master]
	return ok
}

// waits reports whether the master is not to be called yet.
func (s *silentMasters) waits(master string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.all[master].until)
}

// forget makes every master be tried again at once.
func (s *silentMasters) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.all)
}

func (s *silentMasters) answered(master string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, master)
}

// failed makes later calls wait. Calls that failed at the same time count as one.
func (s *silentMasters) failed(master string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, m := time.Now(), s.all[master]
	if now.Before(m.until) {
		return
	}
	if s.all == nil {
		s.all = make(map[string]silence)
	}
	m.wait = min(max(2*m.wait, masterAgainFirst), masterAgainLast)
	m.until = now.Add(m.wait)
	s.all[master] = m
}
