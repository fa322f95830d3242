// Package presence reports to the engine which waiting sessions have sockets on this replica, and finds those
// at the head of the line that do not answer.  Its cost grows with the sessions that come and go, not with
// the number that wait: a session is reported once when it comes and once when it has gone. A heartbeat keeps
// the replica's number alive; when it stops, the engine takes back all that was reported under the number.
package presence

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/waitroom/waitroom/room"
)

// Tasks runs work that ends with the hub.
type Tasks interface {
	// Spawn runs f in the background; false when the hub has ended.
	Spawn(f func(context.Context)) bool
	// Failed counts a call that the store did not answer. It is made again.
	Failed(ctx context.Context, what string, id room.ID, err error)
}

// Config configures a Replica.
type Config struct {
	Engine *room.Engine
	Tasks  Tasks
	Now    func() int64       // the hub's clock, ns
	Every  time.Duration      // between heartbeats
	InUse  func(room.ID) bool // whether the room has, or had lately, sockets here
}

// Replica reports presence for this replica, under a number of its own.
type Replica struct {
	Config
	rooms *rooms

	number    atomic.Int64 // see Number
	beaten    atomic.Int64 // when the latest heartbeat was, on the hub's clock
	calls     atomic.Int64 // that reported presence
	refused   atomic.Bool  // a room had something to report, and has to wait for the next heartbeat
	histories int64        // the engine's, at the latest heartbeat
}

// NewReplica returns a Replica. It reports nothing before its first Heartbeat.
func NewReplica(c Config) *Replica {
	r := &Replica{Config: c}
	r.rooms = newRooms(r)
	return r
}

// Number returns the number under which this replica reports; 0 = none yet.
func (r *Replica) Number() room.ReplicaNumber { return room.ReplicaNumber(r.number.Load()) }

// alive reports whether this replica has a number and had a heartbeat lately: under a number that other
// replicas may count as dead it reports nothing.
func (r *Replica) alive(now int64) bool {
	return r.Number() != 0 && now-r.beaten.Load() < int64(r.Engine.DeadAfter()/2+r.Every)
}

// Heartbeat keeps the replica's number alive; calls must not overlap.
//
// If all is true, the caller reports every session again: the replica counted as dead, or Redis may have lost
// its reports. If some is true, rooms have reports that waited for this heartbeat. A room sets the
// flag `refused` if the last answered heartbeat is too old, even while a later one is under way.
func (r *Replica) Heartbeat(ctx context.Context) (all, some bool) {
	ctx, cancel := context.WithTimeout(ctx, r.Engine.DeadAfter())
	defer cancel()
	began, had, seen := r.Now(), r.Number(), r.Engine.Histories()
	ask := had
	if seen != r.histories {
		ask = 0
	}
	number, err := r.Engine.Heartbeat(ctx, ask)
	if err != nil {
		r.Tasks.Failed(ctx, "heartbeat not recorded", "", err)
		return false, false
	}
	r.histories = seen
	r.beaten.Store(began)
	r.number.Store(int64(number))
	// Read the flag last: a room that sets it after this waits for the next heartbeat.
	return number != had, r.refused.Swap(false)
}

// Drop removes rooms without sockets on this replica from the list of its rooms.
func (r *Replica) Drop(ctx context.Context, ids ...room.ID) { r.rooms.drop(ctx, ids) }
