package main

import (
	"math"
	"slices"
)

const (
	second = 1e6 // µs
	mib    = 1 << 20
	gib    = 1 << 30
	month  = 30.44 * 86400 // s
)

// small are worlds that can be simulated in a moment; large are those that `make growth` also simulates.
var (
	small = []world{
		{sellers: 2000, rooms: 1, replicas: 2},
		{sellers: 3000, rooms: 60, replicas: 3},
		{sellers: 1000, rooms: 20, replicas: 20},
		{sellers: 3000, rooms: 60, replicas: 50},
		{sellers: 3000, rooms: 60, replicas: 50, routed: true},
	}
	large = []world{
		{sellers: 10_000, rooms: 1, replicas: 2},
		{sellers: 10_000, rooms: 1000, replicas: 2},
		{sellers: 100_000, rooms: 1000, replicas: 7},
		{sellers: 100_000, rooms: 1000, replicas: 60},
		{sellers: 100_000, rooms: 1000, replicas: 60, routed: true},
	}
)

// deployment is one Redis or Redis Cluster with its replicas and its PostgreSQL: their numbers for a world,
// and how near they are to the limits that more servers do not raise.
type deployment struct {
	world
	rates
	masters                       float64
	redisGiB, replicaGiB, dbCores float64
	diskGiB                       float64 // a month
	bounds                        []bound
}

// bound is a limit that more servers do not raise, and how much of it is used. A use over 1 is impossible.
type bound struct {
	name string
	used float64
}

// gives returns the bound with the highest use, which limits the deployment first.
func (d deployment) gives() bound {
	return slices.MaxFunc(d.bounds, func(a, b bound) int { return int(math.Copysign(1, a.used-b.used)) })
}

func (d deployment) stands() bool { return d.gives().used <= 1 }

// size computes the numbers of servers for a world in one deployment. More replicas follow more rooms, which
// costs more, so it repeats until the numbers stay the same.
func (f formulas) size(w world, n numbers) deployment {
	w.rooms = min(w.rooms, w.sellers) // empty ones are asleep and cost their memory alone
	people := w.sellers + w.rooms
	w.replicas = max(2, math.Ceil(people/n.replicaSockets))
	for range 100 {
		need := math.Ceil(f.rates(w, n).replica / n.replicaFull)
		if need <= w.replicas || w.replicas > noEnd {
			break
		}
		w.replicas = need
	}
	d := deployment{world: w, rates: f.rates(w, n)}
	d.cluster(n)
	d.memory(n)
	d.dbCores = math.Ceil(d.ledger / n.dbFull)
	d.bounds = append(d.bounds,
		bound{"the core of each replica, by the events of one room",
			d.events / w.rooms * n.replicaEvent / second / n.replicaFull},
		bound{"the core of one room's Redis", d.redis / w.rooms / n.redisFull},
		bound{"the slot of the index of rooms", w.rooms * n.redisIdleIndex / second / n.redisFull},
		bound{"connections of one Redis", w.replicas * n.replicaConnections / n.redisClients},
		bound{"the database's primary", d.ledger / n.dbFull / n.dbCores})
	return d
}

// cluster computes the number of masters. Each receives the events of all.
func (d *deployment) cluster(n numbers) {
	bus := d.events * n.redisBus / second
	d.masters = 1
	if d.redis > n.redisFull {
		d.masters = math.Ceil(d.redis / max(n.redisFull-bus, 1e-6))
	}
	d.bounds = append(d.bounds, bound{"masters of one cluster, and the bus between them",
		d.masters / n.clusterMasters})
}

func (d *deployment) memory(n numbers) {
	ended := d.joins*n.outcomeFor*n.redisOutcomeBytes + d.turns*n.leaseFor*n.redisLeaseBytes
	requests := (d.joins + d.leaves + d.turns*(1+n.codes)) * n.requestFor * n.redisRequestBytes
	d.redisGiB = (d.sellers*n.redisWaiterBytes + d.rooms*n.redisRoomBytes + ended + requests) / gib
	sockets := (d.sellers + d.rooms) * n.replicaSocketKiB * 1024
	mirrors := d.followed * (n.replicaRoomKiB*1024 + d.line()*n.replicaTicketBytes)
	d.replicaGiB = (d.replicas*n.replicaBaseMiB*mib + sockets + mirrors) / gib
	d.diskGiB = (d.joins*n.dbJoinBytes + d.leaves*n.dbLeaveBytes +
		d.turns*(n.dbHandoffBytes+n.codes*n.dbCodeBytes)) * month / gib
}

// estate is a world divided into equal deployments, each with whole rooms.
type estate struct {
	cells float64
	deployment
}

const mostCells = 20_000

// noEnd is a number of replicas above which a world counts as impossible.
const noEnd = 1e6

// divide finds the least number of deployments for a world; false if one deployment cannot even carry one
// room.
func (f formulas) divide(w world, n numbers) (estate, bool) {
	w.rooms = min(w.rooms, w.sellers)
	for cells := 1.0; cells <= min(w.rooms, mostCells); cells++ {
		d := f.size(world{sellers: w.sellers / cells, rooms: w.rooms / cells, routed: w.routed}, n)
		if d.stands() {
			return estate{cells, d}, true
		}
	}
	return estate{}, false
}

// cores returns the cores to pay for: one for each replica, each master and its replica, and those of the
// database and its standby.
func (e estate) cores() float64 { return e.cells * (e.replicas + 2*e.masters + 2*max(e.dbCores, 1)) }

// memory returns the GiB of the replicas, of Redis and its replica, and of the database and its standby.
func (e estate) memory(n numbers) float64 {
	return e.cells * (e.replicaGiB + 2*e.redisGiB + 2*max(e.dbCores, 1)*n.dbCoreGiB)
}
