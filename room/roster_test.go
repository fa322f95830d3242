package room_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// watched is the line as support's page has it: a roster, and the events since.
type watched struct {
	room.Roster
	reset bool
}

func (w *watched) take(t require.TestingT, e room.Event) {
	if !e.Changed {
		require.Equal(t, w.Version, e.Version, "a note is of the version that is known")
	}
	for _, f := range e.Ended {
		w.remove(f.Ticket)
	}
	for _, j := range e.Joined {
		w.insert(room.Waiter{Ticket: j.Ticket, Seller: j.Seller, Rank: j.Rank, JoinedAt: e.Now})
	}
	for _, m := range e.Moved {
		mover := w.remove(m.Ticket)
		mover.Rank = m.Rank
		w.insert(mover)
	}
	switch {
	case e.Lease == nil:
		w.Holder, w.JoinedAt, w.Lease = "", 0, nil
	case e.Lease.Rank != nil:
		granted := w.remove(e.Lease.Ticket)
		require.Equal(t, granted.Seller, e.Lease.Seller)
		w.Holder, w.JoinedAt = granted.Seller, granted.JoinedAt
		fallthrough
	default:
		lease := e.Lease.Lease
		w.Lease = &lease
	}
	for _, note := range e.Notes {
		w.away(note)
	}
	w.Version, w.Epoch, w.Paused, w.Now = e.Version, e.Epoch, e.Paused, e.Now
	w.Hold, w.Spread, w.Holds = e.Hold, e.Spread, e.Holds
	w.Waiting, w.reset = len(w.Line), w.reset || e.Reset
}

func (w *watched) insert(new room.Waiter) {
	at, _ := slices.BinarySearchFunc(w.Line, new.Rank, func(a room.Waiter, rank float64) int {
		if a.Rank < rank {
			return -1
		}
		return 1
	})
	w.Line = slices.Insert(w.Line, at, new)
}

func (w *watched) remove(ticket int64) (was room.Waiter) {
	for i, a := range w.Line {
		if a.Ticket == ticket {
			w.Line = slices.Delete(w.Line, i, i+1)
			return a
		}
	}
	return was
}

func (w *watched) away(note room.Note) {
	for i := range w.Line {
		if note.Away != nil && w.Line[i].Ticket == note.Ticket {
			w.Line[i].AwaySince = note.Since
		}
	}
}

func roster(t require.TestingT, e *room.Engine) room.Roster {
	r, err := e.Roster(context.Background(), integration)
	require.NoError(t, err)
	return r
}

// A page that reads the line once, and applies the events since, shows what a later roster has. That includes
// sellers, join times and away times.
func TestRosterEqualsTheEvents(t *testing.T) { rosterEqualsEvents(t, 25) }

func rosterEqualsEvents(t *testing.T, orders int) {
	tries(t, orders)
	store := redistest.StartEmbedded(t)
	rapid.Check(t, func(rt *rapid.T) {
		store.FlushAll()
		d := newDeskOn(t, store,
			room.Config{AwayAfter: time.Second, DropAfter: time.Second, Lease: 5 * time.Second})
		events := listen(rt, d.rdb)
		ctx, e := context.Background(), d.engine
		var people [6]string
		for i := range people {
			people[i] = room.NewSession()
		}
		who := rapid.IntRange(0, len(people)-1)
		ticket := func(rt *rapid.T) int64 {
			if line := roster(rt, e).Line; len(line) > 0 {
				return rapid.SampledFrom(line).Draw(rt, "waiter").Ticket
			}
			return 1
		}
		w := &watched{Roster: roster(rt, e)}
		rt.Repeat(map[string]func(*rapid.T){
			"join": func(rt *rapid.T) {
				i := who.Draw(rt, "who")
				_, err := e.Join(ctx, integration,
					room.JoinRequest{Session: people[i], Seller: fmt.Sprint("셀러-", i)})
				require.NoError(rt, err)
			},
			"leave": func(rt *rapid.T) {
				_, _ = e.Leave(ctx, integration,
					room.LeaveRequest{Session: people[who.Draw(rt, "who")], Outcome: room.Completed})
			},
			"here": func(rt *rapid.T) {
				_, _ = e.Seen(ctx, integration, time.Second, []string{people[who.Draw(rt, "who")]}, nil)
			},
			"gone": func(rt *rapid.T) {
				_, _ = e.Seen(ctx, integration, 0, nil, []string{people[who.Draw(rt, "who")]})
			},
			"move": func(rt *rapid.T) {
				_, _ = e.Move(ctx, integration, "", ticket(rt), rapid.IntRange(1, 6).Draw(rt, "to"), byKim)
			},
			"remove": func(rt *rapid.T) { // and mostly back again
				ticket := ticket(rt)
				_, _ = e.Remove(ctx, integration, "", ticket, byKim)
				if rapid.IntRange(0, 3).Draw(rt, "back") > 0 {
					_, _ = e.Restore(ctx, integration, "", ticket, byKim)
				}
			},
			"pause": func(rt *rapid.T) {
				_, _ = e.Pause(ctx, integration, "", rapid.Bool().Draw(rt, "paused"), byKim)
			},
			"pass": func(rt *rapid.T) {
				d.pass(time.Duration(rapid.Int64Range(1, 1500).Draw(rt, "ms")) * time.Millisecond)
			},
			"": func(rt *rapid.T) {
				want := roster(rt, e)
				for _, event := range events() {
					w.take(rt, event)
				}
				if w.reset || want.Version == 0 { // a room that never changed has published nothing
					w = &watched{Roster: want}
				}
				w.Now = want.Now
				require.Equal(rt, want, w.Roster)
			},
		})
	})
}

func TestRosterOfALongLineIsWholeAndInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		rdb     redis.UniversalClient
		waiting int64 // number of waiters; roster.lua returns them in parts of 1,000
	}{
		"embedded": {newDesk(t, room.Config{}).rdb, 1_000},
		"redis":    {redistest.Shared(t), 2_500},
	} {
		t.Run(name, func(t *testing.T) { wholeRoster(t, room.New(c.rdb, room.Config{}), c.waiting) })
	}
}

func wholeRoster(t *testing.T, e *room.Engine, waiting int64) {
	fill(t, e, int(waiting))
	st, err := e.Move(t.Context(), integration, "", waiting+1, 1, byKim)
	require.NoError(t, err)
	gone := newSeller(t, e, "gone")
	gone.join()
	gone.gone()

	r := roster(t, e)
	require.Equal(t, "holder", r.Holder)
	require.NotZero(t, r.JoinedAt)
	require.Equal(t, st.Version+1, r.Version)
	require.Len(t, r.Line, int(waiting)+1)
	require.Equal(t, waiting+1, r.Line[0].Ticket)
	for i, w := range r.Line[1:] {
		ticket := int64(i + 2)
		if ticket > waiting {
			ticket++ // the last waiter was moved to the head
		}
		require.Equal(t, ticket, w.Ticket, "the others follow by their tickets")
		require.NotEmpty(t, w.Seller)
		require.NotZero(t, w.JoinedAt)
	}
	require.Equal(t, ranks(r), snapshotRanks(t, e))

	for _, most := range []int{1, 3, int(waiting) + 1, int(waiting) + 5} {
		head, err := e.Head(t.Context(), integration, most)
		require.NoError(t, err)
		require.Equal(t, r.Line[:min(most, len(r.Line))], head.Line)
		require.Equal(t, r.Waiting, head.Waiting, "all that wait are counted")
	}
}

func ranks(r room.Roster) (list []float64) {
	for _, w := range r.Line {
		list = append(list, w.Rank)
	}
	return list
}

func snapshotRanks(t *testing.T, e *room.Engine) []float64 {
	s, err := e.Snapshot(t.Context(), integration)
	require.NoError(t, err)
	return s.Ranks
}

func TestRosterOfARoomThatWasNeverUsedIsEmpty(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		r := roster(t, room.New(rdb, room.Config{}))
		require.Zero(t, r.Epoch)
		require.Empty(t, r.Holder)
		require.Empty(t, r.Line)
	})
}

// BenchmarkRoster times a whole line with 10,000 and with 100,000 waiting, some of the waiters away.
func BenchmarkRoster(b *testing.B) {
	for _, waiting := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			e := room.New(redistest.Start(b).Client(),
				room.Config{AwayAfter: time.Millisecond, DropAfter: time.Hour})
			fill(b, e, waiting)
			gone := room.NewSession()
			_, err := e.Join(b.Context(), integration,
				room.JoinRequest{Session: gone, Seller: "gone", Vouch: time.Millisecond})
			require.NoError(b, err)
			for b.Loop() {
				require.Len(b, roster(b, e).Line, waiting+1)
			}
		})
	}
}

// The desk alone reads where a waiter came from, and only while its place lives, or may be restored.
func TestRosterHasTheAddressOfALivePlaceAndNothingElseHas(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		sessions := []string{room.NewSession(), room.NewSession(), room.NewSession()}
		tickets := make([]int64, len(sessions))
		said := rdb.Subscribe(t.Context(), room.NamesOf(rdb, "").Events(integration))
		defer func() { require.NoError(t, said.Close()) }()
		_, err := said.Receive(t.Context())
		require.NoError(t, err)
		for i, session := range sessions {
			st, err := e.Join(t.Context(), integration, room.JoinRequest{Session: session, Address: "0a1b2c3d4e"})
			require.NoError(t, err)
			tickets[i] = st.Ticket
		}
		_, err = e.Move(t.Context(), integration, "", tickets[2], 1, byKim)
		require.NoError(t, err)
		r := roster(t, e)
		require.Len(t, r.Line, 2)
		for _, w := range r.Line {
			require.Equal(t, "0a1b2c3d4e", w.Address)
		}
		_, err = e.Remove(t.Context(), integration, "", tickets[2], byKim)
		require.NoError(t, err)
		for _, i := range []int{0, 1} {
			_, err = e.Leave(t.Context(), integration,
				room.LeaveRequest{Session: sessions[i], Outcome: room.Completed})
			require.NoError(t, err)
		}
		kept, err := rdb.HGetAll(t.Context(), "{integration}:places").Result()
		require.NoError(t, err)
		require.Len(t, kept, 3)
		require.Contains(t, kept[sessions[2]], "0a1b2c3d4e")
		delete(kept, sessions[2])
		journal, err := rdb.XRange(t.Context(), "{integration}:journal", "-", "+").Result()
		require.NoError(t, err)
		require.NotEmpty(t, journal)
		published := ""
		for ended := 0; ended < 3; {
			within, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			m, err := said.ReceiveMessage(within)
			cancel()
			require.NoError(t, err)
			published += m.Payload
			ended += strings.Count(m.Payload, `"ended":[`)
		}
		require.NotContains(t, fmt.Sprint(kept, journal, published), "0a1b2c3d4e")
	})
}
