// Package lock is a fair, fenced, distributed lock on Redis. Who waits gets the lock in the order of
// asking and is woken by a push: the one who unlocks assigns the lock to the next in line in the same
// step. Nobody polls: taking and releasing are one command each, however many wait.
//
//	key, err := lock.NewKey("stock", "item", "456")
//	...
//	err = lock.Do(ctx, locker, key, 5*time.Second, 10*time.Second, func(ctx context.Context, fence int64) error {
//		return takeOne(ctx, 456, fence)
//	})
//
// # What is promised
//
//   - One lease per key is live at any instant, judged by the clock of Redis alone. That rests on one
//     Redis master that keeps what it was told: a failover can lose the last writes, and with them a
//     lease. Hence the fence.
//   - A fence grows with every lease of its key, for ever, across restarts, failovers and lost data.
//     That rests on Redis's clock not being set back by more than such an outage lasts.
//   - First come, first served, among all processes: by the order in which Redis sees TryLock. Only a
//     waiter whose process is silent for the Heartbeat is passed over; back within 5 seconds more, it
//     has its place again.
//   - A lease ends at its end with nobody doing anything, and the next in line has the lock some
//     milliseconds later at the most, a second where the holder's lease is shorter than that.
//   - A waiter that gives up leaves the line at once; one whose process dies is passed over within its
//     Heartbeat. Should it be granted the lock before that is noticed, that lease runs out unused.
//   - A stale holder ends, frees and is told nothing but ErrNotHeld.
//   - The reply to a command can be lost and the command be sent again by the client: nothing happens twice.
//   - Pushes make waiting fast, not right: while waiters vouch for themselves, each third of the
//     Heartbeat, the answers tell what a lost push should have told.
//
// # What is not
//
// No lock with a lease can stop a holder that is frozen past its end and then writes. Do cancels the
// work's context in time, but a paused process runs no code. Whatever must never happen twice hands
// the fence to what it writes to, which refuses a lower one:
//
//	UPDATE stock SET amount = $2, fence = $1 WHERE item = 456 AND fence < $1
//
// or rests on a unique constraint. Zero rows updated then means: somebody had the lock after you.
//
// # When not to use it
//
// Where a transaction, a unique constraint or SELECT … FOR UPDATE in the database does it alone: that is simpler
// and stronger. For work that outlasts any sensible lease: use a task queue. For a counter or a rate
// limit: use a command of Redis. Inside one process: use a sync.Mutex. Do not lock twice in one line
// of work, or always in the same order of keys. Do not call other services while holding: ask first, then lock.
//
// # How long
//
// The lease is to be several times what the work takes, and the wait what the caller is ready to wait:
//
//	work                         wait   lease
//	quick (take from stock)       5 s    10 s
//	normal (place an order)      10 s    30 s
//	heavy (process a batch)      30 s    60 s
//
// # In tests
//
// Application code takes a Locker. Package locktest has one in memory, and the suite that both keep.
package lock
