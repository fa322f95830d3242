package main

import "math"

// world is the number of waiters, rooms and replicas. Every room has a holder besides its waiters.
type world struct {
	sellers, rooms, replicas float64
	// the balancer sends a room to one replica, or to as few as it needs
	routed bool
}

// line returns the number of waiters in one room.
func (w world) line() float64 { return w.sellers / w.rooms }

// rates are the numbers of events a second in all rooms together.
type rates struct {
	turns, leaves, joins   float64 // leases that end, waiters that give up, new places
	opens                  float64 // sockets: of who joins, and of who comes back
	events, deliveries     float64 // changes that are published, and how often a replica is handed one
	frames                 float64 // states sent for a change
	snapshots, places      float64 // lines read whole, and the places in them
	waiting, holding       float64 // people, in the mean
	followed               float64 // rooms, by each replica that follows them
	redis, replica, ledger float64 // cores that are busy with it
}

// formulas are the functions that a test replaces by wrong ones, to see that the comparison notices it.
type formulas struct {
	frameRate func(changes, pause float64) float64 // states a second of one far back in a line
	// returns the replicas that follow one room, and the probability that a socket comes to another one
	followers func(w world, n numbers, sockets, churn float64) (follow, fresh float64)
}

// sound are the formulas that the page uses.
var sound = formulas{frameRate: coalesced, followers: following}

// coalesced returns the rate of frames. Changes come at random; the first is sent at once, and those within
// the pause after it as one at its end.
//
// The time from one frame to the next is the pause and, if nothing changed in it (with probability
// exp(-changes × pause)), the time until the next change.
func coalesced(changes, pause float64) float64 {
	if changes == 0 {
		return 0
	}
	return 1 / (pause + math.Exp(-changes*pause)/changes)
}

// following returns how many replicas subscribe to a room's events (follow), and the probability that a new
// socket comes to a replica that does not (fresh). A balancer spreads sockets at random, and a replica ends
// its subscription some time after the room's last socket there closed. churn is how many of the room's
// sockets open in a second.
func following(w world, n numbers, sockets, churn float64) (follow, fresh float64) {
	if w.routed {
		return w.each(n), 0
	}
	none := math.Pow(1-1/w.replicas, sockets) * math.Exp(-n.linger*churn/w.replicas)
	return w.replicas * (1 - none), none
}

// each returns the number of replicas that a balancer with knowledge of rooms sends one room to.
func (w world) each(n numbers) float64 {
	return min(w.replicas, math.Ceil((w.line()+1)/n.replicaSockets))
}

// rates computes the events of a world in balance, in which as many sellers join as leave.
func (f formulas) rates(w world, n numbers) rates {
	r := rates{turns: w.rooms / n.hold, leaves: w.sellers / n.patience, waiting: w.sellers, holding: w.rooms}
	people := w.sellers + w.rooms
	r.joins = r.turns + r.leaves
	r.opens = r.joins + people/n.reconnectEvery
	r.events = r.joins + r.leaves + r.turns*(1+n.codes)
	sockets, churn := w.line()+1, r.opens/w.rooms
	follow, fresh := f.followers(w, n, sockets, churn)
	r.followed = w.rooms * follow
	r.deliveries = r.events * follow
	changes := (r.joins + r.leaves + r.turns) / w.rooms
	front := min(w.line(), n.front) + 1
	r.frames = w.rooms*(front*changes+(sockets-front)*f.frameRate(changes, n.coalesce)) + r.turns*n.codes
	r.snapshots = r.opens * fresh
	r.places = r.snapshots * w.line()
	return r.busy(n)
}

// busy adds the use of processors.
func (r rates) busy(n numbers) rates {
	r.redis = (r.joins*n.redisJoin + r.leaves*n.redisLeave + r.turns*(n.redisHandoff+n.codes*n.redisCode) +
		r.opens*n.redisReconnect +
		r.deliveries*n.redisDeliver + r.places*n.redisSnapshotPlace + r.waiting*n.redisIdleWaiter +
		r.holding*n.redisIdleRoom) / 1e6
	r.replica = (r.joins*n.replicaJoin + r.leaves*n.replicaLeave +
		r.turns*(n.replicaHandoff+n.codes*n.replicaCode) + r.opens*n.replicaReconnect +
		r.deliveries*n.replicaEvent + r.frames*n.replicaFrame + r.waiting*n.replicaIdleWaiter +
		r.followed*n.replicaIdleRoom) / 1e6
	r.ledger = (r.joins*n.dbJoin + r.leaves*n.dbLeave + r.turns*(n.dbHandoff+n.codes*n.dbCode)) / 1e6
	return r
}
