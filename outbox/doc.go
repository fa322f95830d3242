// Package outbox does later, reliably and in steps, what a transaction has decided. Tasks are rows of a table
// in your own database, done by the first process that ticks. The package needs no driver, no queue server
// and no leader; it keeps the same rules on SQLite, PostgreSQL, MySQL and MariaDB.
//
//	tx, err := db.BeginTx(ctx, nil)
//	...
//	_, err = tx.ExecContext(ctx, `UPDATE orders SET paid = 1 WHERE id = 7`)
//	task := outbox.Task{Kind: "order", Key: "order/7", Payload: `{"id":7}`}
//	err = outbox.Enqueue(ctx, tx, outbox.Postgres, task)
//	err = tx.Commit() // both or none
//
// and in every replica:
//
//	store := outbox.NewStore(db, outbox.Postgres, outbox.StoreConfig{})
//	worker, err := outbox.NewWorker(outbox.Config{Store: store, Kinds: map[string]outbox.Kind{
//		"order": {Do: outbox.Phases{outbox.Start: charge, "ship": ship, "mail": mail}.Do},
//	}})
//	err = worker.Run(ctx)
//
// Each phase returns the next one, or [Done]. The table is made by [Schema], as one of your migrations.
//
// # When to use it
//
//	one thing to do after a commit (notify, mail, index)       a Kind with one phase
//	several things, each of which may fail by itself           a phase for each: done phases are not repeated
//	waiting for something outside to be ready                  a phase that returns ErrNotReady until it is
//	the same, in an order, for each customer, order or lease   Task.Key
//	once and no more, in the same database                     Store.UnlockTx in the phase's own transaction
//	notify another program by signed webhooks                  package webhook
//	a task at 9 o'clock, or every hour                         not here: a scheduler that puts tasks in
//	thousands of tasks a second, or within milliseconds        not here: a queue that pushes
//
// # What becomes of a task
//
// A task is locked by a timestamp, locked_at. One atomic update claims it, so that only one of many workers
// has it. A phase that is done unlocks the task for the next phase, which any worker may claim at once. A
// worker that dies leaves its lock behind; another takes over once the lock is older than 30 seconds
// ([LockTimeout]). A phase that fails or waits relocks its task: the task rests for a tenth of the time that
// the phase has waited so far, and for 30 seconds once that is over 2 minutes ([Backoff]). After 24 hours
// ([GiveUpAfter]) it is dead.
//
//	state  locked_at              it is           and goes on by
//	open   0                      free            a claim, of the oldest updated_at first
//	open   at most 30 s ago       being done      the next phase (unlock), Done, a rest (relock)
//	                              or resting      the end of its rest
//	open   longer ago             left behind     a claim, which takes it over
//	done   -                      done            being forgotten after 7 days
//	dead   0                      given up        Store.Retry, into the phase that it died in
//
//	            ┌────────── unlock: next phase ──────────┐
//	            ▼                                        │
//	Enqueue ─▶ free ── claim ──▶ being done ── Done ──▶ done ─▶ forgotten
//	            ▲                 │    │
//	            └─── rest over ───┘    └── 24 h, ErrGiveUp ──▶ dead ── Retry ──▶ free
//	               or 30 s after a crash
//
// # What is promised
//
//   - A committed task is done, or is dead and listed ([Store.Dead]). No crash loses a task.
//   - A phase is done at least once. It is repeated if a worker died within it, or if its end could not be
//     written. Task.UID is the same each time, so that a receiver can recognize repeats; Task.Attempts grows
//     with each claim, so that it can serve as a fence.
//   - Two workers never have one task before its lock is older than LockTimeout. A phase's context ends
//     before that, after 25 seconds. A phase that ignores this may run beside another, and its result is not
//     written ([ErrNotHeld]).
//   - Tasks of one Key are done in the order in which they were put in; the next one begins when the one
//     before is done or dead. Keys do not hold up each other, nor do kinds.
//   - A task is tried at most once a tick: a failing one does not spin.
//
// The clock is the database server's (for SQLite, which serves one machine, that machine's), so that
// processes need not agree on the time.
//
// # Beside its peers
//
// River, asynq and watermill do more; choose them where you need it. By their documentation:
//
//	                              outbox             river              asynq            watermill with SQL
//	where tasks are               SQLite, PG, MySQL  PG, SQLite         Redis            SQL tables, brokers
//	in the caller's transaction   yes                yes                no               yes
//	what is done when a later     stays done         a job for each     a task for each  a message for each
//	step fails
//	order within a key            yes                no (Pro: yes)      no               within a topic
//	begins after                  up to 1 s: polls   at once: notified  at once          polls
//	a crash is noticed after      30 s               1 h, to be set     its lease        -
//	schedules, priorities, a UI   no                 yes                yes              no
//	one step as long as it takes  no: 25 s           yes                yes              yes
//
// Its cost: every worker queries once a second for each of its kinds, and each claim and each end of a phase
// is a write. MySQL statements use only SQL that the manuals of MySQL 8.0 and MariaDB share: no RETURNING,
// SKIP LOCKED after FOR UPDATE alone, and sub-selects of the same table only where both allow them. The tests
// run on MariaDB 10.11, and not on MySQL itself.
//
// # Time-outs
//
// LockTimeout is several times as long as a phase, and the same for all users of a table; a longer one allows
// longer phases and delays takeovers. Give clients in phases time-outs well below it. Split longer work:
// begin it in one phase, and check in the next whether it is ready, with ErrNotReady.
package outbox
