package faults

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/haproxytest"
)

// Plan has what is started and the faults to inject. The seed decides their order, their times and their
// victims.
type Plan struct {
	Name         string
	Store        string // Single, Sentinel or Cluster; "" = Single
	Postgres     bool   // else SQLite
	Loses        bool   // the store is meant to lose data
	LosesReplies bool   // replies of Redis can be lost (Single only)
	// Redis has a clock of its own (Single), or its replicas have one that is behind (Sentinel)
	Clock       bool
	Balancer    bool          // sellers come by haproxy
	InOrder     bool          // the steps are not shuffled
	Shows       bool          // every code that comes for a seller with a socket must be shown
	Webhooks    bool          // an integration gets webhooks of everything
	Older       string        // another version's program, which every second replica runs; "" = all run one
	Replicas    int           // 0 = 3
	Sellers     int           // of each room; 0 = 7
	Lease       time.Duration // 0 = 4 s
	ClaimWithin time.Duration // how soon a turn is to be claimed; 0 = it need not be
	Serves      time.Duration // how soon after a fault calls are answered again; 0 = 10 s
	Env         []string      // more settings of the replicas
	RedisArgs   []string
	Steps       []Step
}

// Step injects one kind of fault and repairs it. Its error means that this was not possible, or that it
// affected no client.
type Step struct {
	Name string
	Do   func(ctx context.Context, r *Run) error
}

// every is how long the load continues before, between and after the steps.
const every = 2 * time.Second

func (p Plan) replicas() int {
	if p.Replicas == 0 {
		return 3
	}
	return p.Replicas
}

func (p Plan) sellers() int {
	if p.Sellers == 0 {
		return 7
	}
	return p.Sellers
}

func (p Plan) lease() time.Duration {
	if p.Lease == 0 {
		return 4 * time.Second
	}
	return p.Lease
}

// Short is a plan for every test run: the most important faults, in a few seconds.
func Short() Plan {
	return Plan{Name: "short", LosesReplies: true, Replicas: 2, Sellers: 4, Lease: 2 * time.Second,
		Steps: []Step{
			killReplica(1), killRedis(1), loseReplies(4), cutSubscriptions(3), flushScripts(2),
			cut("front", 500*time.Millisecond),
		}}
}

// ShortOnScripts is Short with a Redis that has no functions, like Redis 6.
func ShortOnScripts() Plan {
	p := Short()
	p.Name, p.RedisArgs = "short-scripts", []string{"--rename-command", "FCALL", "", "--rename-command",
		"FCALL_RO", ""}
	return p
}

// Calm is a plan without faults.
func Calm() Plan {
	return Plan{Name: "calm", Replicas: 2, Shows: true, Webhooks: true,
		Steps: []Step{{"nothing", func(ctx context.Context, _ *Run) error { return pause(ctx, 8*time.Second) }}}}
}

// Plans returns all plans, in their order.
func Plans() []Plan {
	return []Plan{
		{Name: "replica-kill", Webhooks: true, Steps: []Step{killReplica(3)}},
		{Name: "replica-stop", Steps: []Step{stopReplica(4 * time.Second), stopReplica(8 * time.Second)}},
		{Name: "redis-kill", Steps: []Step{killRedis(3)}},
		{Name: "redis-stop", Steps: []Step{stopRedis(1500 * time.Millisecond), stopRedis(7 * time.Second),
			stopRedis(8 * time.Second)}},
		{Name: "lost-replies", LosesReplies: true, Steps: []Step{loseReplies(12), loseReplies(12)}},
		{Name: "redis-link", Steps: []Step{cut("back", 2*time.Second),
			hang("back", 3*time.Second, "upstream", "downstream"),
			hang("back", 3*time.Second, "downstream"), slow("back", 3*time.Second, 100*time.Millisecond)}},
		{Name: "seller-link", Steps: []Step{cut("front", 2*time.Second),
			hang("front", 3*time.Second, "upstream", "downstream"),
			hang("front", 3*time.Second, "downstream"), slow("front", 3*time.Second, 150*time.Millisecond)}},
		{Name: "redis-clients", Steps: []Step{cutSubscriptions(10), killClients(3), flushScripts(5),
			pauseClients("ALL", 1500*time.Millisecond), pauseClients("WRITE", 1500*time.Millisecond)}},
		{Name: "redis-full", Steps: []Step{fillRedis(2 * time.Second)}},
		{Name: "redis-clock", Clock: true, InOrder: true,
			Steps: []Step{setClock(20 * time.Second), setClock(-10 * time.Second), setClock(0)}},
		{Name: "sentinel-clock", Store: Sentinel, Serves: 2 * time.Second, Clock: true, Loses: true,
			Steps: []Step{killMaster()}},
		{Name: "claims", ClaimWithin: 800 * time.Millisecond, LosesReplies: true,
			Steps: []Step{killReplica(2), killRedis(1), stopRedis(2 * time.Second), loseReplies(8),
				cut("front", time.Second)}},
		{Name: "claims-lost", ClaimWithin: 800 * time.Millisecond, Loses: true,
			Steps: []Step{flushAll(), cutPower(900 * time.Millisecond)}},
		{Name: "index-lost", Steps: []Step{loseIndex(), loseIndex()}},
		{Name: "flushall", Loses: true, Steps: []Step{flushAll(), flushAll(), flushAll()}},
		{Name: "power-cut", Loses: true, Steps: []Step{cutPower(900 * time.Millisecond),
			cutPower(900 * time.Millisecond)}},
		{Name: "empty-restart", Loses: true, Steps: []Step{emptyRedis(), emptyRedis()}},
		{Name: "sentinel", Store: Sentinel, Serves: 2 * time.Second, Loses: true,
			Steps: []Step{failOver(), killMaster()}},
		{Name: "sentinel-lag", Store: Sentinel, Serves: 2 * time.Second, Loses: true,
			Steps: []Step{failOverWithLag(1500 * time.Millisecond), failOverWithLag(1500 * time.Millisecond)}},
		{Name: "sentinel-partition", Store: Sentinel, Serves: 2 * time.Second, Loses: true,
			Steps:     []Step{partition(2 * time.Second)},
			RedisArgs: []string{"--min-replicas-to-write", "1", "--min-replicas-max-lag", "1"}},
		{Name: "cluster-kill", Store: Cluster, Serves: 4 * time.Second, Loses: true, Steps: []Step{killShard()}},
		{Name: "cluster-slots", Store: Cluster, Steps: []Step{moveSlots(), moveSlots()}},
		{Name: "cluster-index", Store: Cluster, Steps: []Step{loseIndex(), loseIndex()}},
		{Name: "database", Postgres: true, Webhooks: true,
			Steps: []Step{stopDatabase(4 * time.Second), freezeDatabase(4 * time.Second),
				fillDatabase(4 * time.Second)}},
		{Name: "rolling-restart", Balancer: true, Postgres: true, Lease: 20 * time.Second,
			Env: []string{haproxytest.MinDrain}, Steps: []Step{replaceReplicas(3000)}},
		{Name: "floods", Steps: []Step{floodJoins(2000), manySockets(1000), slowReaders(100, 3*time.Second),
			floodPings(20, 2*time.Second)}},
		{Name: "half-open", Sellers: 16, Steps: []Step{ghosts(3)}},
		{Name: "room-broken", Steps: []Step{breakRoom(6 * time.Second)}},
		{Name: "cluster-frozen", Store: Cluster, Steps: []Step{freezeShard(6 * time.Second)},
			RedisArgs: []string{"--cluster-node-timeout", "60000", "--cluster-require-full-coverage", "no"}},
		{Name: "cluster-shard", Store: Cluster, Loses: true, Steps: []Step{emptyShard()}},
	}
}
