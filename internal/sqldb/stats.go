package sqldb

import "sync/atomic"

// Stats counts since Open.
type Stats struct {
	Failures uint64 // failed calls, but for faults of the data
	Answered uint64 // probes after a slow call that found the database there
	Silent   uint64 // probes that did not
}

type stats struct{ failures, answered, silent atomic.Uint64 }

// Stats returns the present counts.
func (d *DB) Stats() Stats {
	return Stats{Failures: d.stats.failures.Load(), Answered: d.stats.answered.Load(),
		Silent: d.stats.silent.Load()}
}
