package faults

import (
	"context"
	"fmt"
	"time"
)

// clockIs records that Redis's clock leads the machine's from now on.
func (r *Run) clockIs(ahead time.Duration) {
	r.offset.Store(int64(ahead))
	r.history.Add(Record{Kind: KindClock, Offset: ahead.Milliseconds()})
}

// now returns Redis's time.
func (r *Run) now() time.Time { return time.Now().Add(time.Duration(r.offset.Load())) }

// setClock makes Redis's clock lead the machine's, or follow it if negative.
func setClock(ahead time.Duration) Step {
	return Step{fmt.Sprintf("Redis's clock set to %+.0f s", ahead.Seconds()),
		func(ctx context.Context, r *Run) error {
			if r.clock == nil {
				return fmt.Errorf("the store has no clock of its own here")
			}
			if err := r.midLease(ctx); err != nil {
				return err
			}
			return r.fault("clock set", nil, func() (string, error) {
				before := r.offset.Load()
				r.clock.Set(ahead)
				r.clockIs(ahead)
				is, err := r.store.master(r.rooms[0]).Client().Time(ctx).Result()
				if err != nil {
					return "", err
				}
				off := time.Until(is)
				if (off - ahead).Abs() > time.Second {
					return "", fmt.Errorf("%w: Redis's clock is off by %s", errUnmet, off)
				}
				return fmt.Sprintf("from %+.0f s", time.Duration(before).Seconds()), nil
			})
		}}
}

// byRedis converts the machine's times in a history into Redis's.
func byRedis(records []Record) []Record {
	var changes []Record
	for _, r := range records {
		if r.Kind == KindClock {
			changes = append(changes, r)
		}
	}
	if len(changes) == 0 {
		return records
	}
	turned := make([]Record, len(records))
	for i, r := range records {
		r.Began.Wall += offsetAt(changes, r.Began.Mono)
		r.Ended.Wall += offsetAt(changes, r.Ended.Mono)
		if r.Kind == KindFault { // it explains what lies between, also where the clock was set back in it
			r.Began.Wall, r.Ended.Wall = min(r.Began.Wall, r.Ended.Wall), max(r.Began.Wall, r.Ended.Wall)
		}
		turned[i] = r
	}
	return turned
}

func offsetAt(changes []Record, mono int64) (offset int64) {
	for _, c := range changes {
		if c.Ended.Mono <= mono {
			offset = c.Offset
		}
	}
	return offset
}

// endsSoon requires that no lease's end is shown further ahead than the length of a lease, also after the
// clock was set back.
func (r *roomLog) endsSoon() (found []Violation) {
	slack := quarantine + clockSettles
	for _, s := range r.statements {
		ahead := time.Duration(s.ExpiresAt-s.Ended.Wall) * time.Millisecond
		if s.ExpiresAt == 0 || r.rules.Lease == 0 || ahead <= r.rules.Lease+slack || r.clockJustSet(s.Ended.Mono) {
			continue
		}
		return append(found, r.violation(EndTooFar, s.Ended,
			fmt.Sprintf("ticket %d is shown that the lease ends in %s", s.Ticket, ahead)))
	}
	return found
}

// timesRight requires that the time in each state is Redis's, since clients compute countdowns from it.
func (r *roomLog) timesRight() (found []Violation) {
	for _, s := range r.statements {
		if s.ServerTime == 0 || r.broken(s.Began.Wall, s.Ended.Wall) ||
			r.clockSetAround(s.Began.Mono, s.Ended.Mono) {
			continue
		}
		slow := clockError // a frame may have been on its way
		if s.Kind == KindFrame {
			slow = frameWithin
		}
		ahead, behind := s.ServerTime-s.Ended.Wall, s.Began.Wall-s.ServerTime
		if ahead > clockError.Milliseconds() || behind > slow.Milliseconds() {
			return append(found, r.violation(TimeOff, s.Ended,
				fmt.Sprintf("ticket %d was sent by a %s of %s a time that is %d ms ahead of Redis's",
					s.Ticket, s.Kind, s.Replica, s.ServerTime-s.Ended.Wall)))
		}
	}
	return found
}

func (b *book) clockJustSet(mono int64) bool { return b.clockSetAround(mono, mono) }

// clockSetAround is clockSet with a margin: a replica may know a new master before the sentinels agree on it.
func (b *book) clockSetAround(from, to int64) bool {
	if to < forever-clockSettles.Microseconds() {
		to += clockSettles.Microseconds()
	}
	return b.clockSet(from-clockSettles.Microseconds(), to)
}

// clockSet reports whether Redis's clock was set between two moments (µs).
func (b *book) clockSet(from, to int64) bool {
	for _, c := range b.clocks {
		if c.Ended.Mono >= from && c.Ended.Mono <= to {
			return true
		}
	}
	return false
}
