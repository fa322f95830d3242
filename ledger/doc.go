// Package ledger is the durable record of the rooms and the second line of defence behind SMS matching. The
// database refuses a verification that breaks a rule.
//
// The engine's scripts write a journal beside every change. The ledger drains it: it reads entries, applies
// them in one transaction, and trims them. An entry is keyed by room, epoch and id, and counts once even if
// it is applied twice: by two replicas, or after a crash between apply and trim. No seller waits for the
// ledger.
//
// # The way of an entry
//
// This is a grant, from the call to its row. Each line is a function, its file, and what it does.
//
//	 1  Drain          drain.go           drains one room; Run drains the rooms that JournalSeen queued
//	 2  drain          drain.go           locks rooms in this process; drains portion after portion
//	 3  drainPortions  drain.go           reads, applies and settles a portion of each journal
//	 4  readPortions   drain_read.go      reads the journals' first entries and the browsers to push to
//	 5  apply          drain_apply.go     writes portions in one transaction; isolates a malformed entry
//	 6  inRooms        drain_transact.go  begins, alone in the rooms; fills the outbox; commits
//	 7  applyPortions  drain_order.go     applies the records in order, as batches over the rooms
//	 8  writeTimeline  drain_timeline.go  inserts the records; marks those that were applied before
//	 9  applyBatch     drain_batch.go     reads rows, applies the records to them, writes them
//	10  load           drain_batch.go     loads places, leases, messages and the facts for verdicts
//	11  run.apply      drain_record.go    calls the function of the record's type
//	12  granted        drain_record.go    changes the place and the lease; adds event lock.granted
//	13  lease.grant    drain_lease.go     sets the lease's times, once
//	14  write          drain_write.go     writes the batch, one statement for each table
//	15  writeLeases    drain_write.go     INSERT INTO leases … ON CONFLICT DO UPDATE
//
// After the commit, settle (drain_settle.go) sends verdicts to the rooms and trims the journals.
//
// # Files
//
// Package schema has the tables, and what all agree on. Package read is for support and reports; package trim
// deletes old rows and erases sellers.
//
//   - drain_*: from a journal to the tables; a record's rules are in the files named after its subject
//   - judge*: verdicts on matches, and which lease a message belongs to
//   - receive: messages become durable before they are matched
package ledger
