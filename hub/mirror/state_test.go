package mirror

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

// follower is a mirror that follows the real engine's events as the hub's does, without sockets.
type follower struct {
	t      *rapid.T
	e      *room.Engine
	id     room.ID
	people []string // sessions, all of them on this replica
	events <-chan *redis.Message
	m      Mirror[struct{}]
	count  *int
	gaps   *int
}

// catchUp applies the published events until the mirror has Redis's version. It returns what the engine has
// at that version: the room, and the place of each session.
func (f *follower) catchUp() (room.Snapshot, []room.Seat) {
	for {
		snap, err := f.e.Snapshot(context.Background(), f.id)
		require.NoError(f.t, err)
		f.apply(snap)
		view, seats := f.look()
		if view.Version == snap.Version { // else the look itself has brought the room to its time
			return snap, seats
		}
	}
}

// apply applies events until the mirror has the snapshot's version.
func (f *follower) apply(snap room.Snapshot) {
	if snap.Version == 0 {
		f.adopt(snap) // begun and never changed: there is no event yet
	}
	for f.m.Epoch != snap.Epoch || f.m.Version < snap.Version {
		select {
		case msg := <-f.events:
			event, err := room.ParseEvent(msg.Payload)
			require.NoError(f.t, err)
			*f.count++
			if f.m.Apply(&event).Snapshot != "" {
				*f.gaps++
				f.adopt(snap)
			}
		case <-time.After(time.Minute):
			require.Fail(f.t, "events are missing", "at %d of %d", f.m.Version, snap.Version)
		}
	}
}

// adopt takes over a snapshot, and then looks up every session.
func (f *follower) adopt(snap room.Snapshot) {
	require.True(f.t, f.m.Read())
	_, ok := f.m.Adopt(snap)
	require.True(f.t, ok)
	view, seats := f.look()
	for i, session := range f.people {
		f.m.Answer(f.m.Session(session), &view, &seats[i])
	}
}

func (f *follower) look() (room.View, []room.Seat) {
	view, seats, err := f.e.Look(context.Background(), f.id, f.people...)
	require.NoError(f.t, err)
	return view, seats
}

// requireSameSeats compares the mirror's seats, which events have set, with the engine's places.
func (f *follower) requireSameSeats(seats []room.Seat) {
	for i, session := range f.people {
		s := f.m.Session(session)
		require.True(f.t, f.m.Current(s))
		require.Equal(f.t, seatOf(&seats[i].Place, s.Seat), s.Seat, "see seat in apply.go")
	}
}

func TestAMirrorFedByEventsEqualsASnapshot(t *testing.T) {
	server := redistest.Start(t)
	rdb := server.Client()
	count, gaps := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		require.NoError(t, rdb.FlushAll(context.Background()).Err())
		e := room.New(rdb, room.Config{AwayAfter: time.Minute, DropAfter: time.Minute, Recovery: -1,
			ClaimWithin: rapid.SampledFrom([]time.Duration{0, 3 * time.Millisecond}).Draw(t, "claim within")})
		const id = room.ID("integration")
		sub := rdb.Subscribe(context.Background(), room.Channel(id))
		defer func() { _ = sub.Close() }()
		_, err := sub.Receive(context.Background())
		require.NoError(t, err)
		people := make([]string, 8)
		for i := range people {
			people[i] = room.NewSession()
		}
		f := &follower{t: t, count: &count, gaps: &gaps, e: e, id: id, people: people,
			events: sub.Channel(redis.WithChannelSize(1000)), m: New[struct{}]()}
		for _, session := range people {
			f.m.Enter(session)
		}
		start, err := e.Snapshot(context.Background(), id)
		require.NoError(t, err)
		f.adopt(start)
		anybody := rapid.IntRange(0, len(people)-1)
		ctx := context.Background()
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				i := anybody.Draw(t, "who")
				lease := time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 5}).Draw(t,
					"lease")) * time.Millisecond
				_, err := e.Join(ctx, id, room.JoinRequest{Session: people[i], Seller: "s" + people[i],
					Lease: lease})
				require.NoError(t, err)
			},
			"leave": func(t *rapid.T) {
				_, err := e.Leave(ctx, id, room.LeaveRequest{Session: people[anybody.Draw(t, "who")],
					Outcome: room.Completed})
				require.False(t, err != nil && !room.Refused(err), err)
			},
			"claim": func(t *rapid.T) {
				_, err := e.ClaimTurn(ctx, id, room.ClaimRequest{Session: people[anybody.Draw(t, "who")]})
				require.False(t, err != nil && !room.Refused(err), err)
			},
			"pause": func(t *rapid.T) {
				_, _ = e.Pause(ctx, id, "", rapid.Bool().Draw(t, "paused"),
					room.Action{})
			},
			"expire": func(t *rapid.T) { _, _ = e.Expire(ctx, id) },
			"delete": func(t *rapid.T) { rdb.Del(ctx, room.LockKey(id)) },
			"move": func(t *rapid.T) {
				ticket, to := rapid.Int64Range(1, 20).Draw(t, "ticket"), rapid.IntRange(1, 9).Draw(t, "to")
				_, _ = e.Move(ctx, id, "", ticket, to, room.Action{})
			},
			"remove": func(t *rapid.T) {
				_, _ = e.Remove(ctx, id, "", rapid.Int64Range(1, 20).Draw(t, "ticket"), room.Action{})
			},
			"restore": func(t *rapid.T) {
				_, _ = e.Restore(ctx, id, "", rapid.Int64Range(1, 20).Draw(t, "ticket"), room.Action{})
			},
			"here": func(t *rapid.T) { // so that they have to claim their leases, and may return to the line
				_, _ = e.Seen(ctx, id, time.Minute, people, nil)
			},
			"gone": func(t *rapid.T) {
				_, _ = e.Seen(ctx, id, time.Second, nil, []string{people[anybody.Draw(t, "who")]})
			},
			"": func(t *rapid.T) {
				snap, seats := f.catchUp()
				requireSameView(t, snap.View, f.m.State)
				f.requireSameSeats(seats)
				require.True(t, slices.Equal(snap.Ranks, f.m.Line), "%v, not %v", f.m.Line, snap.Ranks)
				require.Equal(t, snap.Lease != nil, f.m.Held())
				if snap.Lease != nil {
					require.Equal(t, *snap.Lease, f.m.Lease)
				}
			},
		})
	})
	require.Less(t, gaps*20, count, "gaps are rare")
}

// requireSameView compares everything that a mirror has of a room, except the line and the lease.
func requireSameView(t require.TestingT, want room.View, m State) {
	view, state := reflect.ValueOf(want), reflect.ValueOf(m)
	for field := range view.Type().Fields() {
		if slices.Contains([]string{"Now", "Waiting", "Lease"}, field.Name) {
			continue
		}
		known := state.FieldByName(field.Name)
		require.True(t, known.IsValid(), "State has no %s, which room.View has", field.Name)
		require.Equal(t, view.FieldByIndex(field.Index).Interface(), known.Interface(),
			"%s: see Apply and Adopt", field.Name)
	}
}

func event(version int64, change func(*room.Event)) *room.Event {
	e := &room.Event{Room: wire.Room{Epoch: 7, Version: version}, Changed: true, Now: 1000 + version}
	if change != nil {
		change(e)
	}
	return e
}

func TestMirrorClassifiesEveryEvent(t *testing.T) {
	three := func(e *room.Event) { e.Joined = []room.Joined{{Rank: 3, Ticket: 3}} }
	rank := 2.0
	for name, c := range map[string]struct {
		event *room.Event
		want  Verdict
		line  Line
	}{
		"the next":                  {event(11, three), Applied, Line{1, 2, 3}},
		"the next, nothing in line": {event(11, nil), Applied, Line{1, 2}},
		"the same again": {&room.Event{Room: wire.Room{Epoch: 7, Version: 10}, Changed: true, Now: 900}, Old,
			nil},
		"an older": {&room.Event{Room: wire.Room{Epoch: 7, Version: 9}, Changed: true, Now: 900}, Old,
			nil},
		"another history": {&room.Event{Room: wire.Room{Epoch: 7, Version: 11, Lineage: "b:11,a:1"},
			Changed: true}, Gap, nil},
		"only notes":               {&room.Event{Room: wire.Room{Epoch: 7, Version: 10}, Now: 1001}, Noted, Line{1, 2}},
		"notes of a later version": {&room.Event{Room: wire.Room{Epoch: 7, Version: 11}, Now: 1001}, Gap, nil},
		"one too far":              {event(12, three), Gap, nil},
		"another epoch":            {&room.Event{Room: wire.Room{Epoch: 8, Version: 1}, Changed: true}, Gap, nil},
		"renumbered":               {event(11, func(e *room.Event) { e.Reset = true }), Gap, nil},
		"one ends that does not wait": {event(11,
			func(e *room.Event) { r := 9.0; e.Ended = []room.Finished{{Rank: &r}} }), Gap, nil},
		"one joins that waits": {event(11,
			func(e *room.Event) { e.Joined = []room.Joined{{Rank: 2}} }), Gap, nil},
		"an unknown lease": {event(11,
			func(e *room.Event) { e.Ended = []room.Finished{{Fence: 5}} }), Gap, nil},
		"the lease ends, one is granted": {event(11, func(e *room.Event) {
			e.Ended = []room.Finished{{Fence: 4}}
			e.Lease = &room.EventLease{Lease: room.Lease{Fence: 6}, Rank: &rank}
		}), Applied, Line{1}},
		"the lease is not claimed, its holder waits again, the next is granted": {event(11,
			func(e *room.Event) {
				e.Missed = []room.Missed{{Joined: room.Joined{Rank: 0.5, Ticket: 9}, Fence: 4}}
				e.Lease = &room.EventLease{Lease: room.Lease{Fence: 6}, Rank: &rank}
			}), Applied, Line{0.5, 1}},
		"it is not claimed, and is granted to the same one again": {event(11, func(e *room.Event) {
			half := 0.5
			e.Missed = []room.Missed{{Joined: room.Joined{Rank: half, Ticket: 9}, Fence: 4}}
			e.Lease = &room.EventLease{Lease: room.Lease{Fence: 6}, Rank: &half}
		}), Applied, Line{1, 2}},
		"it is not claimed, and its holder leaves": {event(11, func(e *room.Event) {
			half := 0.5
			e.Missed, e.Ended = []room.Missed{{Joined: room.Joined{Rank: half, Ticket: 9},
				Fence: 4}}, []room.Finished{{Rank: &half}}
		}), Applied, Line{1, 2}},
		"an unknown lease is not claimed": {event(11,
			func(e *room.Event) { e.Missed = []room.Missed{{Fence: 5}} }), Gap, nil},
		"one leaves": {event(11,
			func(e *room.Event) { e.Ended = []room.Finished{{Rank: &rank}} }), Applied, Line{1}},
		"one is moved to the head": {event(11,
			func(e *room.Event) { e.Moved = []room.Joined{{Rank: 0, From: 2}} }), Applied, Line{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			m := State{Span: Span{Revision: Revision{7, 10}, Base: 10}, Line: Line{1, 2},
				Lease: room.Lease{Fence: 4}}
			require.Equal(t, c.want, m.Apply(c.event))
			if c.line != nil {
				require.Equal(t, c.line, m.Line)
			}
		})
	}
}

func TestARoomThatWasNeverUsedStartsWithItsFirstEvent(t *testing.T) {
	m := State{}
	require.Equal(t, Applied, m.Apply(event(1, func(e *room.Event) { e.Joined = []room.Joined{{Rank: 1}} })))
	require.Equal(t, int64(7), m.Epoch)
	m = State{}
	require.Equal(t, Gap, m.Apply(event(2, nil)))
}

func TestLineKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Line
		model := map[float64]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				r := rapid.Float64Range(-5, 20).Draw(t, "rank")
				require.Equal(t, !model[r], l.insert(r))
				model[r] = true
			},
			"remove": func(t *rapid.T) {
				if len(l) > 0 {
					r := l[rapid.IntRange(0, len(l)-1).Draw(t, "at")]
					require.True(t, l.remove(r))
					require.False(t, l.remove(r))
					delete(model, r)
				}
			},
			"": func(t *rapid.T) {
				require.True(t, slices.IsSorted(l))
				require.Len(t, l, len(model))
				for i, r := range l {
					p, ok := l.Position(r)
					require.True(t, ok)
					require.Equal(t, i+1, p)
				}
			},
		})
	})
}
