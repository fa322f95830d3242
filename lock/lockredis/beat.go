package lockredis

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// beatsAtOnce is how many heartbeats one shard gets at the same time.
const beatsAtOnce = 16

// beat sends the heartbeats of this process's waiters until ctx ends. The answers also make up for lost
// pushes: pushes make waiting fast, not right.
func (l *Locker) beat(ctx context.Context) {
	var beats beats
	defer beats.work.Wait()
	tick := time.NewTicker(l.heartbeat / beatsPerWord)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-l.lookNow:
		}
		for _, id := range l.waitedFor() {
			beats.begin(id, l.shard(ctx, id), func() { l.sendHeartbeat(ctx, id, l.waiters(id)) })
		}
		l.doubtPushes()
	}
}

// beats are the keys whose heartbeat is being sent. Each shard has a limit of its own, since a shard that
// does not answer must not delay keys of another, which would lose their turns.
type beats struct {
	work   sync.WaitGroup
	mu     sync.Mutex
	busy   map[room.ID]*beat
	shards map[string]chan struct{} // a token for each key under way
}

// beat is a key whose heartbeat is under way, or waits for its turn.
type beat struct {
	underWay bool
	again    bool // asked for once more meanwhile: an answer that is on its way may be too old
}

// begin sends a key's heartbeat in the background, and once more if one is under way.
func (b *beats) begin(id room.ID, shard string, send func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if beat := b.busy[id]; beat != nil {
		beat.again = beat.underWay
		return
	}
	if b.busy == nil {
		b.busy, b.shards = make(map[room.ID]*beat), make(map[string]chan struct{})
	}
	turns := b.shards[shard]
	if turns == nil {
		turns = make(chan struct{}, beatsAtOnce)
		b.shards[shard] = turns
	}
	b.busy[id] = &beat{}
	b.work.Go(func() {
		turns <- struct{}{}
		for b.wanted(id) {
			send()
		}
		<-turns
	})
}

// wanted returns true the first time, and again if begin was called meanwhile; otherwise it removes the key.
func (b *beats) wanted(id room.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	beat := b.busy[id]
	if beat.underWay && !beat.again {
		delete(b.busy, id)
		return false
	}
	beat.underWay, beat.again = true, false
	return true
}

// shard names the master of a cluster that has a key; without a cluster there is one name.
func (l *Locker) shard(ctx context.Context, id room.ID) string {
	cluster, ok := l.rdb.(*redis.ClusterClient)
	if !ok {
		return ""
	}
	master, err := cluster.MasterForKey(ctx, l.engine.Names().Lock(id))
	if err != nil {
		return "" // the call itself returns the error
	}
	return master.Options().Addr
}

// waitedFor returns the keys that this process waits for.
func (l *Locker) waitedFor() (ids []room.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, ln := range l.lines {
		if len(ln.waiters) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// waiters returns the sessions of this process that wait for a key.
func (l *Locker) waiters(id room.ID) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ln := l.lines[id]; ln != nil {
		return slices.Collect(maps.Keys(ln.waiters))
	}
	return nil
}

func (l *Locker) sendHeartbeat(ctx context.Context, id room.ID, sessions []string) {
	for from := 0; from < len(sessions); from += room.SeenBatch {
		batch := sessions[from:min(from+room.SeenBatch, len(sessions))]
		sent := time.Now()
		v, err := l.engine.Seen(ctx, id, l.heartbeat, batch, nil)
		if err == nil {
			l.recordClocks(id, sent, v.Now)
			l.note(id, v)
			err = l.settle(ctx, id, v)
		}
		l.warn(ctx, "heartbeat of waiters", err)
	}
}

// settle looks up the waiters that a view does not show as waiting.
func (l *Locker) settle(ctx context.Context, id room.ID, v room.View) error {
	unsettled := l.unsettled(id, v)
	for from := 0; from < len(unsettled); from += room.LookBatch {
		batch := unsettled[from:min(from+room.LookBatch, len(unsettled))]
		v, seats, err := l.engine.Look(ctx, id, batch...)
		if err != nil {
			return err
		}
		for i, session := range batch {
			l.seated(id, session, v, seats[i].Place)
		}
	}
	return nil
}

// unsettled returns the waiters that cannot just be waiting. Either the lock is free, or one behind them has
// it, or the epoch is another.
func (l *Locker) unsettled(id room.ID, v room.View) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.lines[id]
	if ln == nil {
		return nil
	}
	var sessions []string
	// sessions, not tickets, are compared: after a loss another waiter may have the same ticket
	for _, w := range ln.waiters {
		if w.ticket == 0 {
			continue // it is still asking for a place
		}
		if w.epoch != v.Epoch || v.Lease == nil || v.Lease.Ticket > w.ticket {
			sessions = append(sessions, w.session)
		}
	}
	return sessions
}

func (l *Locker) seated(id room.ID, session string, v room.View, p room.Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.lines[id]
	if ln == nil || ln.waiters[session] == nil {
		return
	}
	switch w := ln.waiters[session]; {
	case p.Status == room.Locked && v.Lease != nil:
		l.found(w, grant{fence: p.Fence, expires: v.Lease.ExpiresAt})
	case p.Status != room.Waiting:
		l.notify(w, grant{}) // its place is lost
	}
}

// expire ends a lease that is over, as far as this process knows; the next waiter in line then has the lock.
func (l *Locker) expire(id room.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), storeWithin)
	defer cancel()
	found, err := l.engine.Expire(ctx, id)
	if err == nil {
		l.note(id, found.View)
	}
	l.warn(ctx, "end a lease that is over", err)
}

func (l *Locker) warn(ctx context.Context, what string, err error) {
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		l.watch.Failed("background")
		l.log.Warn("lock: "+what, "error", err)
	}
}
