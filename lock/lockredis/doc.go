// Package lockredis is the lock.Locker on Redis: waiters get the lock in the order of asking, each by a push.
// No waiter polls: taking and releasing are one command each, however many wait. It runs on a single Redis,
// with Sentinel and on Cluster, from 6.2 on, and on managed ones: it needs scripts, publish and subscribe,
// and neither CONFIG nor keyspace notifications.
//
// # The assumptions behind its promises
//
//   - One lease per key is live at any instant, judged by the clock of Redis alone. That assumes one
//     Redis master that keeps every write: see below.
//   - A fence grows with every lease of its key, for ever, across restarts, failovers and lost data. It is
//     the time of the grant in microseconds, or one more than the last. That assumes that Redis's clock is
//     not set back by more than such an outage lasts.
//   - First come, first served: by the order in which Redis sees TryLock and Lock. Only a
//     waiter whose process is silent for the Heartbeat is passed over; back within 5 seconds more, it
//     has its place again.
//   - A lease ends at its end by itself, and the next in line has the lock some
//     milliseconds later at the most, a second where the holder's lease is shorter than that.
//   - A waiter that gives up leaves the line at once; one whose process dies is passed over within its
//     Heartbeat. Should it be granted the lock before that is noticed, that lease runs out unused.
//   - The reply to a command can be lost and the client repeat the command: nothing happens twice.
//   - Pushes make waiting fast, not right: waiters send a heartbeat each third of the Heartbeat, and its
//     answer makes up for a lost push.
//
// # In a failover
//
// Calls fail with lock.ErrStore, or wait for the client's retries, until the new master is found. Where the
// new master has every write that the old one acknowledged, nothing has changed: leases, places and their
// order are there. Redis replicates behind its answers, so the last writes may be missing:
//
//   - A lease that is missing is over: Extend and Unlock return lock.ErrNotHeld, and another waiter may have
//     the lock at once, while the holder still works. Do notices when it unlocks, KeepAlive at the next
//     renewal. The lost lease's fence is lower.
//   - An unlock that is missing leaves the lock taken to the end of its lease.
//   - A place in line that is missing: the waiter gets in line again by itself, at the end.
//
// While the old master is alive and cut off, both may grant. min-replicas-to-write 1 with
// min-replicas-max-lag 1 bounds for how long. A failover client of go-redis listens to one sentinel of its
// choice: for up to about two seconds after the failover, two processes with different sentinels can be with
// two masters, both of which answer. (The server of this repository listens to all sentinels and closes
// connections to the old master: docs/decisions/0015-redis-moves.md. This package uses its caller's client.)
// So hand the fence to each system that you write to, or have a constraint there: a lock alone does not keep
// two writers apart in these seconds, neither this one nor another on Redis.
//
// # Time-outs
//
// ctx ends every call at once, also while Redis does not answer. For that a locker on a *redis.Client has
// connections of its own, at most PoolSize with the client's options, on which the client's hooks are not
// called. A failover, Cluster or Ring client is used as it is, and one with MaxActiveConns or a streaming
// credentials provider. Besides ctx, the client's own
// ReadTimeout (5 s by default) bounds each attempt of a request (MaxRetries, 3, beside the first). Keep
// ReadTimeout below a third of the shortest lease that is kept alive. Heartbeat (3 s) is how long dead
// processes can delay the line, and how long a living one may pause: raise it where garbage collection
// or the machine's own pauses come near.
//
// # Costs
//
// One command for taking a lock and one for giving it back; for a waiter's process, a heartbeat for each key
// that it waits for. A process that waits has one subscription for all its keys. A lock without waiters
// is two keys in Redis. Five seconds after the last unlock only a key's highest fence is left, and that for a
// day at most. lab/benchmarks.md compares it with its peers.
//
// # Metrics and spans
//
// Config.Metrics and Config.Tracer are small interfaces, so that the package brings no library for either.
// Package lockprom has Prometheus's metrics, lockotel OpenTelemetry's spans. Keys are in no metric, tokens
// and proofs nowhere.
package lockredis
