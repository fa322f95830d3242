// Package lock is the port of a fair, fenced, distributed lock, for application code to depend on. It needs
// the standard library alone. Package lockredis has the lock itself, on Redis; package locktest one in memory
// for unit tests, and the suite of rules that both keep.
//
//	key, err := lock.NewKey("stock", "item", "456")
//	...
//	work := func(ctx context.Context, fence int64) error { return takeOne(ctx, 456, fence) }
//	err = lock.Do(ctx, locker, key, 5*time.Second, 10*time.Second, work)
//
// # Which call
//
//	one piece of work under the lock             Do; DoValue where it has a result
//	the loser gets an error at once (409)        Do with a wait of 0: ErrNotAcquired
//	work longer than a crash may block others    Do with KeepAlive and a short lease
//	taken in one function, given back elsewhere  TryLock, Unlock
//	a caller that waits as long as ctx lives     Lock
//	taken in one process, given back by another  Lease.Token, Resume
//	is it running anywhere? (for display only)   IsLocked
//
// # Promises
//
//   - One lease per key is live at any instant, judged by the clock of the store alone.
//   - A fence grows with every lease of its key, for ever.
//   - First come, first served, among all processes. Only a waiter whose process has fallen silent is
//     passed over.
//   - A push wakes a waiter: an unlock assigns the lock to the next in line in the same step.
//   - A lease ends at its end by itself.
//   - A stale holder extends, ends and frees nothing; it only gets ErrNotHeld.
//   - A call with a lost reply is not done twice.
//   - Different keys never wait for each other.
//
// The package comment of lockredis states the assumptions behind these promises, and
// their limits in a failover.
//
// # Fences
//
// No lock with a lease can stop a holder that is frozen past its end and then writes. Do cancels the
// work's context in time, but a paused process runs no code, and a write on the network arrives when
// it arrives. Work that must never happen twice hands the fence to each system that it writes to,
// which refuses a lower one:
//
//	UPDATE stock SET amount = $2, fence = $1 WHERE item = 456 AND fence < $1
//
// Zero rows updated means: another holder had the lock after you; give up. If one holder writes the row
// more than once, compare with fence <= $1. For rows that are not there yet, a row for each key keeps the
// highest fence, in the same transaction as the write:
//
//	INSERT INTO fences (key, fence) VALUES ($1, $2)
//	ON CONFLICT (key) DO UPDATE SET fence = excluded.fence WHERE fences.fence <= excluded.fence
//
// Zero rows inserted means the same: roll back. Or let a unique constraint refuse the second of two: UNIQUE
// (trainer, date, time).
//
// # When not to use it
//
// If a transaction, a unique constraint or SELECT … FOR UPDATE in the database does it alone: that is
// simpler and stronger. For work that has to be done even if its process dies: use a task queue. For a
// counter or a rate limit: use a command of Redis. Inside one process: use a sync.Mutex. Do not lock twice in
// one line of work, or always in the same order of keys: the lock is not reentrant. Do not call other
// services while holding: ask first, then lock.
//
// # Waits and leases
//
// Make the lease several times as long as the work, since work that exceeds it loses the lock; but no longer
// than a killed process may block others. If the two contradict each other, use KeepAlive. The wait is as
// long as the caller is ready to wait:
//
//	work                         wait   lease
//	quick (take from stock)       5 s    10 s
//	normal (place an order)      10 s    30 s
//	heavy (process a batch)      30 s    60 s
//	long (a migration)            0 s    30 s, KeepAlive, a deadline in ctx
//
// The deadline of ctx must be beyond the wait, or the caller never sees ErrNotAcquired. A write under the
// lock must time out before the lease does.
//
// # Beside other locks
//
// redsync v4.18 and bsm/redislock v0.9.4 on go-redis, rueidislock v1.0.79 of rueidis, and Redisson's FairLock
// (Java), by their code and documentation:
//
//	                            here         redsync     redislock    rueidislock  FairLock
//	order among processes       FIFO         none        none         none         FIFO
//	a waiter learns by          push to it   polling     polling      push to all  push
//	dead waiters delay by       3 s in all   0           0            0            5 s each
//	fence                       each lease   no          no           no           no: RFencedLock
//	wait bounded                wait, ctx    tries, ctx  retries,ctx  ctx          wait
//	extend                      Extend       Extend      Refresh      by itself    watchdog
//	renewed while work runs     KeepAlive    own code    own code     always       where no lease is given
//	taken up by another process Token        WithValue   Token        no           no
//	run a function under it     Do, DoValue  no          no           no           no
//	what application code names interface    struct      struct       interface    interface
//	... compiles a driver       no           no          yes          yes          (Java)
//	fake, conformance suite     yes          no          no           no           no
//	several masters             no           quorum      no           key majority MultiLock
//	reentrant, read-write       no           no          no           no           yes
//	other languages             no           no          no           no           JVM
//	Redis commands for a pair   12           4           5            6 to 14      not measured
//	left in Redis afterwards    its fence    nothing     nothing      nothing      nothing
//
// The limits: a waiter that dies within the last 3 s before its turn is granted the lock all the same, and
// its lease runs out unused. Taking and releasing a free lock makes Redis run 12 commands, those in scripts
// counted, in place of SET NX and DEL. The highest fence of every key, some 160 bytes, stays for a day: for
// uncontended locks on millions of keys, redislock is cheaper. Under contention it is the other way round
// (lab/benchmarks.md of the repository has both). A process that waits keeps a subscription open and sends a
// heartbeat for each key. One master decides: there is no quorum. Only programs that use this package see its
// locks: a SETNX of another program on the same name does not.
//
// docs/adopting-lock.md of the repository leads here from redsync, redislock and a SETNX of your own.
//
// # In tests
//
// Application code takes a Locker. locktest.NewFake makes one in memory that can fail and end
// leases on demand, also in a testing/synctest bubble; locktest.Conformance tests a Locker of
// your own against the rules.
package lock
