package mirror

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

// here returns a mirror at epoch 7, version 10: a holds the lock, b and c wait, d has no place.
func here(t *testing.T) *Mirror[struct{}] {
	m := New[struct{}]()
	require.True(t, m.Read())
	_, ok := m.Adopt(room.Snapshot{View: room.View{Room: wire.Room{Epoch: 7, Version: 10},
		Lease: &room.Lease{Fence: 4, Ticket: 1, ExpiresAt: 9}}, Ranks: []float64{2, 3}})
	require.True(t, ok)
	for id, seat := range map[string]Seat{"a": {Status: room.Locked, Ticket: 1, Fence: 4},
		"b": {Status: room.Waiting, Ticket: 2, Rank: 2},
		"c": {Status: room.Waiting, Ticket: 3, Rank: 3}, "d": {Status: room.Idle}} {
		m.Place(m.Enter(id), seat, Revision{7, 10})
	}
	return &m
}

func held(fence, ends int64) *room.EventLease {
	return &room.EventLease{Lease: room.Lease{Fence: fence, Ticket: 1, ExpiresAt: ends}, Holder: wire.Holder{Session: "a"}}
}

func TestEventMarksTheSocketsItConcerns(t *testing.T) {
	two, yes := 2.0, true
	for name, c := range map[string]struct {
		change         func(*room.Event)
		seats, look    []string
		front, expires bool
		away           []int64
		snapshot       Reason
		verdict        Verdict
		noticed        bool
	}{
		"one joins": {change: func(e *room.Event) {
			e.Lease, e.Joined = held(4, 9), []room.Joined{{Session: "d", Ticket: 4, Rank: 4}}
		}, seats: []string{"d"}, front: true, expires: true},
		"one joins who is not here": {change: func(e *room.Event) {
			e.Lease, e.Joined = held(4, 9), []room.Joined{{Session: "x", Ticket: 4, Rank: 4}}
		}, front: true, expires: true},
		"the holder asks for a code": {change: func(e *room.Event) { e.Lease = held(4, 9) },
			seats: []string{"a"}},
		"the holder has more time": {change: func(e *room.Event) { e.Lease = held(4, 99) }, seats: nil,
			front: true, expires: true},
		"the holder asks, and the room is paused": {change: func(e *room.Event) {
			e.Lease,
				e.Paused = held(4, 9), true
		},
			front: true, expires: true},
		"a handoff": {change: func(e *room.Event) {
			e.Lease = &room.EventLease{Lease: room.Lease{Fence: 5, Ticket: 2}, Holder: wire.Holder{Session: "b"}, Rank: &two}
			e.Ended = []room.Finished{{Session: "a", Ticket: 1, Fence: 4, Outcome: room.Completed}}
		}, seats: []string{"b", "a"}, front: true, expires: true},
		"a message is there": {change: func(e *room.Event) {
			e.Version, e.Changed, e.Notes = 10, false, []room.Note{{Message: "c"}, {Message: "x"}}
		}, look: []string{"c"}, verdict: Noted},
		"one is away": {change: func(e *room.Event) {
			e.Version, e.Changed, e.Notes = 10, false, []room.Note{{Ticket: 3, Away: &yes}}
		}, away: []int64{3}, verdict: Noted},
		"support moved one": {change: func(e *room.Event) {
			e.Lease, e.Moved = held(4, 9), []room.Joined{{Session: "c", Ticket: 3, Rank: 1, From: 3}}
			e.Notes = []room.Note{{Session: "c", Support: room.Moved}}
		}, seats: []string{"c"}, front: true, expires: true, noticed: true},
		"a gap": {change: func(e *room.Event) { e.Version = 12 }, snapshot: ReasonGap,
			verdict: Gap},
		"a new epoch": {change: func(e *room.Event) { e.Epoch, e.Version = 8, 1 }, snapshot: ReasonEpoch,
			verdict: Gap},
		"another history": {change: func(e *room.Event) { e.Lineage = "b" }, snapshot: ReasonHistory,
			verdict: Gap},
	} {
		t.Run(name, func(t *testing.T) {
			m := here(t)
			f := m.Apply(event(11, c.change))
			require.Equal(t, c.verdict, f.Verdict)
			require.Equal(t, c.snapshot, f.Snapshot)
			require.Equal(t, c.snapshot == "", m.Live)
			require.Equal(t, c.seats, ids(f.Seats))
			require.Equal(t, c.look, ids(f.Look))
			require.ElementsMatch(t, c.away, f.Away)
			require.Equal(t, c.front, f.All)
			require.Equal(t, c.expires, f.Expires)
			require.Equal(t, c.noticed, len(f.Noticed) == 1)
			for _, s := range f.Seats {
				require.True(t, m.Current(s))
			}
		})
	}
}

func ids(list []*Session[struct{}]) (names []string) {
	for _, s := range list {
		names = append(names, s.ID)
	}
	return names
}

func TestEventsThatComeDuringASnapshotAreAppliedAfterIt(t *testing.T) {
	m := here(t)
	require.True(t, m.Read())
	require.Equal(t, Kept, m.Apply(event(11, nil)).Verdict)
	require.Equal(t, Kept, m.Apply(event(12, nil)).Verdict)
	events, ok := m.Adopt(room.Snapshot{View: room.View{Room: wire.Room{Epoch: 7, Version: 11}}})
	require.True(t, ok)
	require.Len(t, events, 2)
	require.Equal(t, Old, m.Apply(&events[0]).Verdict)
	require.Equal(t, Applied, m.Apply(&events[1]).Verdict)
}

func TestSnapshotThatWasUnderWayWhenAnotherWasNeededWillNotDo(t *testing.T) {
	m := here(t)
	require.True(t, m.Read())
	require.False(t, m.Read(), "one at a time")
	_, ok := m.Adopt(room.Snapshot{View: room.View{Room: wire.Room{Epoch: 7, Version: 11}}})
	require.False(t, ok)
	require.True(t, m.Reading())
	require.Equal(t, int64(10), m.Version)
	_, ok = m.Adopt(room.Snapshot{View: room.View{Room: wire.Room{Epoch: 7, Version: 11}}})
	require.True(t, ok)
	require.False(t, m.Reading())
}

func TestTooManyEventsDuringASnapshotNeedAnother(t *testing.T) {
	m := here(t)
	m.Read()
	for range keepEvents + 1 {
		m.Apply(event(11, nil))
	}
	_, ok := m.Adopt(room.Snapshot{View: room.View{Room: wire.Room{Epoch: 7, Version: 11}}})
	require.False(t, ok)
}

func TestViewOfTheEngineIsComparedWithTheMirror(t *testing.T) {
	for name, c := range map[string]struct {
		view   room.View
		needs  Reason
		wanted bool
	}{
		"the same":              {room.View{Room: wire.Room{Epoch: 7, Version: 10}, Waiting: 2}, "", false},
		"another line":          {room.View{Room: wire.Room{Epoch: 7, Version: 10}, Waiting: 1}, ReasonDrift, false},
		"older":                 {room.View{Room: wire.Room{Epoch: 7, Version: 9}, Waiting: 5}, "", false},
		"its event is to come":  {room.View{Room: wire.Room{Epoch: 7, Version: 11}}, "", true},
		"many events are":       {room.View{Room: wire.Room{Epoch: 7, Version: 19}}, "", true},
		"a new epoch":           {room.View{Room: wire.Room{Epoch: 8, Version: 1}}, ReasonEpoch, false},
		"an epoch that is over": {room.View{Room: wire.Room{Epoch: 6, Version: 99, Lineage: "b"}}, "", false},
		"another history":       {room.View{Room: wire.Room{Epoch: 7, Version: 11, Lineage: "b"}}, ReasonHistory, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := here(t)
			needs, wanted := m.Compare(&c.view)
			require.Equal(t, c.needs, needs)
			require.Equal(t, c.wanted, wanted)
			m.Read()
			needs, wanted = m.Compare(&c.view)
			require.False(t, needs != "" || wanted, "a snapshot is under way")
		})
	}
}
