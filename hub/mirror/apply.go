package mirror

import "github.com/waitroom/waitroom/room/wire"

// Apply applies an event: the state and the seats advance to it if it is the next one.
func (m *Mirror[V]) Apply(e *wire.Event) *Effects[V] {
	f := m.effects.reset()
	switch {
	case m.reading.running:
		m.keep(e)
		f.Verdict = Kept
	case !m.Live:
		f.Verdict = Unwanted
	default:
		m.apply(e, f)
	}
	return f
}

func (f *Effects[V]) reset() *Effects[V] {
	clear(f.Noticed)
	clear(f.Judging)
	clear(f.Judged)
	clear(f.Seats)
	clear(f.Caught)
	clear(f.Look)
	*f = Effects[V]{Noticed: f.Noticed[:0], Judging: f.Judging[:0], Judged: f.Judged[:0],
		Seats: f.Seats[:0], Caught: f.Caught[:0], Look: f.Look[:0], Away: f.Away[:0]}
	return f
}

func (m *Mirror[V]) apply(e *wire.Event, f *Effects[V]) {
	m.notify(e, f)
	before, room, known := m.Lease, m.Room, m.Span
	f.Verdict = m.State.Apply(e)
	switch f.Verdict {
	case Gap:
		m.Live = false // nothing is sent until the snapshot has come
		f.Snapshot = known.gap(e)
		return
	case Applied:
		if f.Anew = e.Epoch != known.Epoch; f.Anew {
			m.adoptEpoch()
		}
		if room.ShowsAs(&e.Room) && codesOnly(e, &before) { // only the holder's frame changes
			if s := m.sessions[e.Lease.Session]; s != nil {
				f.Seats = append(f.Seats, s)
			}
			f.Expires = e.Lease.ClaimBy != before.ClaimBy
		} else {
			m.seat(e, f)
			f.All, f.Expires = true, true
		}
		m.catchUp(f)
	}
	m.note(e, f)
}

// notify adds notices about support's actions for sessions on this replica, and finds those whose turn ends
// by a message.
func (m *Mirror[V]) notify(e *wire.Event, f *Effects[V]) {
	for i := range e.Notes {
		n := &e.Notes[i]
		if s := m.sessions[n.Session]; s != nil && n.Support != "" {
			s.notice(n.Support, Revision{e.Epoch, e.Version})
			f.Noticed = append(f.Noticed, s)
		}
		if s := m.sessions[n.Judging]; s != nil {
			f.Judging = append(f.Judging, s)
		}
	}
}

// note finds the sessions to look up, and the tickets that the engine has as away.
func (m *Mirror[V]) note(e *wire.Event, f *Effects[V]) {
	for i := range e.Notes {
		n := &e.Notes[i]
		if s := m.sessions[n.Message]; s != nil {
			f.Look = append(f.Look, s)
			if n.Judged {
				f.Judged = append(f.Judged, s)
			}
		}
		if n.Away != nil && *n.Away {
			f.Away = append(f.Away, n.Ticket)
		}
	}
}

// adoptEpoch moves the seats of sessions without a place into an epoch that has just begun.
func (m *Mirror[V]) adoptEpoch() {
	for _, s := range m.sessions {
		if s.Seat.Status != "" && !s.Seat.Live() {
			s.Revision = Revision{Epoch: m.Epoch}
		}
	}
}

// seat applies an event to the sessions on this replica. Where an event names a session twice, the first seat
// below counts: reseat ignores a session that has one of this version.
func (m *Mirror[V]) seat(e *wire.Event, f *Effects[V]) {
	if e.Lease != nil {
		m.reseat(e.Lease.Session, Seat{Status: wire.Locked, Ticket: e.Lease.Ticket, Fence: e.Lease.Fence}, f)
	}
	for i := range e.Moved {
		j := &e.Moved[i]
		m.reseat(j.Session, Seat{Status: wire.Waiting, Ticket: j.Ticket, Rank: j.Rank, Marks: j.Marks}, f)
	}
	for i := range e.Joined {
		j := &e.Joined[i]
		m.reseat(j.Session, Seat{Status: wire.Waiting, Ticket: j.Ticket, Rank: j.Rank, Marks: j.Marks}, f)
	}
	for i := range e.Ended {
		j := &e.Ended[i]
		m.reseat(j.Session, Seat{Status: wire.Ended, Outcome: j.Outcome, Ticket: j.Ticket}, f)
	}
	for i := range e.Missed { // after Ended: if the same change ended the place too, that counts
		j := &e.Missed[i]
		m.reseat(j.Session, Seat{Status: wire.Waiting, Ticket: j.Ticket, Rank: j.Rank, Marks: j.Marks}, f)
	}
}

func (m *Mirror[V]) reseat(id string, to Seat, f *Effects[V]) {
	s := m.sessions[id]
	if s == nil || s.Of(m.Revision).Reached() {
		return // it has a seat of this version, or a later one from a look that was answered before the event
	}
	if s.Seat == to && m.Current(s) {
		return
	}
	m.Place(s, to, m.Revision)
	f.Seats = append(f.Seats, s)
}

// catchUp finds the sessions whose answer was ahead of the state, now that the state has advanced.
func (m *Mirror[V]) catchUp(f *Effects[V]) {
	waiting := m.ahead[:0]
	for _, s := range m.ahead {
		switch {
		case m.Current(s):
			f.Caught = append(f.Caught, s)
		case m.Of(s.Revision).Unreached():
			waiting = append(waiting, s)
		}
	}
	clear(m.ahead[len(waiting):])
	m.ahead = waiting
}
