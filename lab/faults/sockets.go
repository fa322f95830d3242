package faults

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// sockets requires that a socket never receives an older version, and receives in time what the API already
// answers.
func (b *book) sockets() (found []Violation) {
	last := map[int64]lineage{}
	frames := map[int64][]Record{}
	for _, r := range b.records {
		if r.Kind != KindFrame || r.Type != "state" {
			continue
		}
		frames[r.Socket] = append(frames[r.Socket], r)
		now := lineage{r.Epoch, r.Version}
		if before := last[r.Socket]; before.beyond(now) {
			found = append(found, Violation{VersionBack, r.Room, r.Ended.Mono,
				fmt.Sprintf("a socket of %s at version %d of epoch %d was sent version %d of epoch %d",
					r.Session, before.version, before.epoch, now.version, now.epoch)})
		}
		last[r.Socket] = now
	}
	return append(found, b.late(frames)...)
}

// late finds sockets that did not receive a turn in time although the API answered it and no fault was
// active.
func (b *book) late(frames map[int64][]Record) (found []Violation) {
	spans := b.socketSpans()
	done := map[roomFence]bool{}
	for _, r := range b.records {
		if r.Kind != KindCall || r.Status != "locked" || done[roomFence{r.Room, r.Fence}] {
			continue
		}
		done[roomFence{r.Room, r.Fence}] = true
		by := r.Ended.Mono + frameWithin.Microseconds()
		for id, s := range spans[r.Session] {
			if s.from > r.Ended.Mono || s.to < by ||
				b.broken(r.Ended.Wall-healWithin.Milliseconds(), r.Ended.Wall+frameWithin.Milliseconds()) {
				continue
			}
			sent := slices.ContainsFunc(frames[id], func(f Record) bool {
				return f.Ended.Mono <= by && (f.Fence == r.Fence ||
					!(lineage{r.Epoch, r.Version}).beyond(lineage{f.Epoch, f.Version}))
			})
			if !sent {
				found = append(found, Violation{SocketBehind, r.Room, r.Ended.Mono, fmt.Sprintf(
					"%s had its turn at version %d and its socket did not get it within %s", r.Session, r.Version,
					frameWithin)})
			}
		}
	}
	return found
}

// socketSpans returns when each socket of a session was open (µs).
func (b *book) socketSpans() map[string]map[int64]span {
	spans := map[string]map[int64]span{}
	for _, r := range b.records {
		switch r.Kind {
		case KindOpen:
			if spans[r.Session] == nil {
				spans[r.Session] = map[int64]span{}
			}
			spans[r.Session][r.Socket] = span{r.Ended.Mono, forever}
		case KindClose:
			s := spans[r.Session][r.Socket]
			s.to = r.Ended.Mono
			spans[r.Session][r.Socket] = s
		}
	}
	return spans
}

// served requires that soon after each fault calls are answered again and a seller that joins a free room is
// granted its lock. After the sellers have left, no client can show it.
func (b *book) served() (found []Violation) {
	last := int64(0)
	var answered, granted []int64 // µs
	for _, r := range b.records {
		if r.Room != prefix+"probe" || r.Kind != KindCall {
			continue
		}
		last = max(last, r.Ended.Mono)
		if r.Op == "status" || r.Error != "" || r.HTTP >= 500 {
			continue
		}
		answered = append(answered, r.Ended.Mono)
		if r.Status == "locked" {
			granted = append(granted, r.Ended.Mono)
		}
	}
	serves := cmp.Or(b.rules.Serves, servesWithin)
	for _, f := range b.faults {
		soon := func(list []int64, within time.Duration) bool {
			by := f.Ended.Mono + within.Microseconds()
			return by > last || slices.ContainsFunc(list,
				func(at int64) bool { return at >= f.Ended.Mono && at <= by })
		}
		if !soon(answered, serves) {
			found = append(found, Violation{NoService, prefix + "probe", f.Ended.Mono,
				fmt.Sprintf("no change was served within %s of the end of: %s", serves, f.Fault)})
		}
		if !soon(granted, servesWithin) {
			found = append(found, Violation{NoService, prefix + "probe", f.Ended.Mono,
				fmt.Sprintf("no seller was granted the lock of a free room within %s of the end of: %s", servesWithin,
					f.Fault)})
		}
	}
	return found
}
