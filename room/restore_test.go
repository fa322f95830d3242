package room_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestSellerWhoseTurnWasEndedByMistakeIsNext(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
		first := a.join()
		b.join()
		c.join()
		_, err := e.Restore(t.Context(), integration, "", first.Ticket, byKim)
		require.ErrorIs(t, err, room.ErrStaleTicket, "the turn goes on")
		_, err = e.Release(t.Context(), integration, "", first.Fence, byKim)
		require.NoError(t, err)
		second := b.stand()
		events := listen(t, rdb)
		for _, request := range []string{"once", "once", ""} { // pressed again: the answer is the same
			st, err := e.Restore(t.Context(), integration, request, first.Ticket, byKim)
			require.NoError(t, err)
			require.EqualValues(t, 4, st.Ticket)
			require.Equal(t, 1, st.Position)
		}
		back := a.stand()
		require.Equal(t, room.Waiting, back.Status)
		require.EqualValues(t, 4, back.Ticket, "the place that ended stays ended")
		require.Equal(t, 1, back.Position)
		require.Equal(t, 2, c.stand().Position)
		require.Equal(t, second.Lease, b.stand().Lease, "the turn that began meanwhile goes on")
		require.Equal(t, []room.Note{{Session: a.session, Support: room.Moved}}, notes(events()))

		require.Greater(t, b.leave(room.Completed).Lease.Fence, second.Lease.Fence)
		require.Equal(t, room.Locked, a.stand().Status)
		st, err := e.Restore(t.Context(), integration, "", first.Ticket, byKim)
		require.NoError(t, err)
		require.Equal(t, room.Locked, st.Status)
		a.leave(room.Cancelled)
		_, err = e.Restore(t.Context(), integration, "", first.Ticket, byKim)
		require.ErrorIs(t, err, room.ErrStaleTicket, "the seller has left of its own will")
		records := recordsOf(t, e, integration, "action")
		require.Len(t, records, 2)
		require.Equal(t, first.Ticket, records[1].Ticket)
		require.Equal(t, "a", records[1].Seller)
		require.Equal(t, "because", records[1].Reason)
		require.Len(t, recordsOf(t, e, integration, "joined"), 4)
	})
}

func TestRemovedWaiterIsPutBackAndAFreeLockIsItsOwn(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		a.join()
		ticket := b.join().Ticket
		_, err := e.Remove(t.Context(), integration, "", ticket, byKim)
		require.NoError(t, err)
		a.leave(room.Completed)
		_, err = e.Pause(t.Context(), integration, "", true, byKim)
		require.NoError(t, err)
		_, err = e.Restore(t.Context(), integration, "", ticket, byKim)
		require.NoError(t, err)
		require.Equal(t, 1, b.stand().Position, "nobody is granted while the room is paused")
		_, err = e.Remove(t.Context(), integration, "", b.stand().Ticket, byKim)
		require.NoError(t, err)
		_, err = e.Pause(t.Context(), integration, "", false, byKim)
		require.NoError(t, err)
		_, err = e.Restore(t.Context(), integration, "", b.stand().Ticket, byKim)
		require.NoError(t, err)
		require.Equal(t, room.Locked, b.stand().Status)
	})
}

// Any other end is the seller's own, or the rules'.
func TestOnlyWhatSupportEndedWithinAMinuteIsRestored(t *testing.T) {
	d := newDesk(t, room.Config{})
	refused := func(ticket int64, want error) {
		t.Helper()
		_, err := d.engine.Restore(t.Context(), integration, "", ticket, byKim)
		require.ErrorIs(t, err, want)
	}
	refused(1, room.ErrStaleTicket)
	left, late, again, elsewhere := newSeller(t, d.engine, "left"), newSeller(t, d.engine, "late"),
		newSeller(t, d.engine, "again"), newSeller(t, d.engine, "elsewhere")
	newSeller(t, d.engine, "holder").join()
	for _, s := range []seller{left, late, again, elsewhere} {
		s.join()
	}
	remove := func(s seller) int64 {
		ticket := s.stand().Ticket
		_, err := d.engine.Remove(t.Context(), integration, "", ticket, byKim)
		require.NoError(t, err)
		return ticket
	}
	left.leave(room.Cancelled)
	refused(left.stand().Ticket, room.ErrStaleTicket)

	ticket := remove(again)
	again.join()
	refused(ticket, room.ErrStaleTicket)
	require.Equal(t, 3, again.stand().Position, "it stands where it joined")

	ticket = remove(elsewhere)
	newSeller(t, d.engine, "elsewhere").join()
	refused(ticket, room.ErrSellerHasPlace)
	require.Equal(t, room.Removed, elsewhere.stand().Outcome)

	ticket = remove(late)
	d.pass(time.Minute + time.Millisecond)
	refused(ticket, room.ErrStaleTicket)
	late.join()
	ticket = remove(late)
	d.pass(time.Minute)
	_, err := d.engine.Restore(t.Context(), integration, "", ticket, byKim)
	require.NoError(t, err)
	require.Equal(t, 1, late.stand().Position)
}

// A person who deletes the lock key, and an erasure, end places too, with the same outcomes.
func TestWhatSupportDidNotEndIsNotRestored(t *testing.T) {
	for name, ends := range map[string]func(*testing.T, redis.UniversalClient, *room.Engine){
		"the lock key is deleted by hand": func(t *testing.T, rdb redis.UniversalClient, _ *room.Engine) {
			require.NoError(t, rdb.Del(t.Context(), room.NamesOf(rdb, "").Lock(integration)).Err())
		},
		"the holder is erased": func(t *testing.T, _ redis.UniversalClient, e *room.Engine) { erase(t, e, "a") },
		"a waiter is erased":   func(t *testing.T, _ redis.UniversalClient, e *room.Engine) { erase(t, e, "b") },
		"who was removed is erased": func(t *testing.T, _ redis.UniversalClient, e *room.Engine) {
			_, err := e.Remove(t.Context(), integration, "", 2, byKim)
			require.NoError(t, err)
			erase(t, e, "b")
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
				e := room.New(rdb, room.Config{})
				a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
				a.join()
				b.join()
				ends(t, rdb, e)
				a.stand() // the room notices that the key is gone
				live := 0
				for _, s := range []seller{a, b} {
					if st := s.stand(); st.Live() {
						live++
					} else {
						require.Contains(t, []room.Outcome{room.Forced, room.Removed}, st.Outcome)
						_, err := e.Restore(t.Context(), integration, "", st.Ticket, byKim)
						require.ErrorIs(t, err, room.ErrStaleTicket)
						require.False(t, s.stand().Live())
					}
				}
				require.Equal(t, 1, live)
			})
		})
	}
}

func erase(t *testing.T, e *room.Engine, name string) {
	t.Helper()
	_, _, err := e.EraseSeller(t.Context(), integration,
		room.EraseRequest{Seller: name, Pseudonym: "erased-" + name, EndPlaces: true})
	require.NoError(t, err)
}

// Otherwise support would not find it among the places of its address.
func TestRestoredPlaceHasItsAddress(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		newSeller(t, e, "holder").join()
		st, err := e.Join(t.Context(), integration,
			room.JoinRequest{Session: room.NewSession(), Seller: "a", Address: "0a1b2c3d4e"})
		require.NoError(t, err)
		_, err = e.Remove(t.Context(), integration, "", st.Ticket, byKim)
		require.NoError(t, err)
		_, err = e.Restore(t.Context(), integration, "", st.Ticket, byKim)
		require.NoError(t, err)
		line := roster(t, e).Line
		require.Len(t, line, 1)
		require.Equal(t, "0a1b2c3d4e", line[0].Address)
	})
}

// A place that did not announce asks would get messages by their time alone.
func TestRestoredPlaceAsksAndLastsAsBefore(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := newSeller(t, d.engine, "a")
	_, err := d.engine.Join(t.Context(), integration, room.JoinRequest{Session: a.session, Seller: a.name,
		Asks: true, Lease: 10 * time.Second})
	require.NoError(t, err)
	first := a.stand()
	_, err = d.engine.Release(t.Context(), integration, "", first.Fence, byKim)
	require.NoError(t, err)
	_, err = d.engine.Restore(t.Context(), integration, "", first.Ticket, byKim)
	require.NoError(t, err)
	second := a.stand()
	require.Equal(t, room.Locked, second.Status)
	require.Greater(t, second.Fence, first.Fence)
	require.EqualValues(t, 10_000, second.Lease.ExpiresAt-second.Lease.GrantedAt)
	_, m := d.sms()
	requireNone(t, room.NotExpected, m, "it has not asked")
}

// A seller that waits again sees the messages of the turn that support ended, as those of its place; in its
// new turn a program would take the earlier code for the one it asks for.
func TestRestoredSellerSeesTheMessagesOfTheTurnThatWasEnded(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.expect()
	code, m := d.sms()
	require.Equal(t, room.Matched, m.Result)
	first := a.stand()
	require.Equal(t, room.Locked, first.Status, "one more is to come")
	_, err := d.engine.Release(t.Context(), integration, "", first.Fence, byKim)
	require.NoError(t, err)
	again, err := d.engine.Restore(t.Context(), integration, "", first.Ticket, byKim)
	require.NoError(t, err)
	require.NotEqual(t, first.Ticket, again.Ticket)
	shows := func(ids ...string) {
		t.Helper()
		var shown []string
		for _, m := range messages(t, d.engine, a.session) {
			require.Equal(t, again.Ticket, m.Ticket)
			require.Equal(t, first.Fence, m.Fence)
			shown = append(shown, m.MessageID)
		}
		require.ElementsMatch(t, ids, shown)
	}
	shows(code)
	late, m := d.sms()
	require.Equal(t, room.Late, m.Result)
	shows(code, late)
	b.leave(room.Completed)
	require.Equal(t, room.Locked, a.stand().Status)
	shows(late)
}

// Rule 2 of docs/contract.md: who had a page and has none is passed over, and a program is not.
func TestRestoredSellerIsPassedOverOnlyIfItHadAPage(t *testing.T) {
	for _, story := range []string{
		"ends", "turn ends",
		"page closes ends", "page ends closes", "page closes turn ends", "page turn closes ends",
		"turn page closes ends", "turn page ends closes",
		"turn closes ends", // its replica first reported that the page had closed
	} {
		t.Run(story, func(t *testing.T) {
			d := newDesk(t, room.Config{AwayAfter: 15 * time.Second, ClaimWithin: 20 * time.Second})
			holder, b, next, last := d.plain("holder"), d.plain("b"), d.plain("next"), d.plain("last")
			ticket := b.stand().Ticket
			for number, step := range strings.Fields(story) {
				var err error
				switch step {
				case "page":
					_, err = d.engine.Presence(t.Context(), integration, 1, int64(number), []string{b.session}, nil)
				case "closes":
					_, err = d.engine.Presence(t.Context(), integration, 1, int64(number), nil,
						[]room.Gone{{Session: b.session, Replica: 1}})
				case "turn":
					holder.leave(room.Completed)
					holder, next = next, last
				case "ends":
					if st := b.stand(); st.Status == room.Locked {
						_, err = d.engine.Release(t.Context(), integration, "", st.Fence, byKim)
					} else {
						_, err = d.engine.Remove(t.Context(), integration, "", ticket, byKim)
					}
				}
				require.NoError(t, err)
			}
			_, err := d.engine.Restore(t.Context(), integration, "", ticket, byKim)
			require.NoError(t, err)
			require.Equal(t, 1, b.stand().Position)
			d.pass(16 * time.Second)
			holder.leave(room.Completed)
			if !strings.Contains(story, "closes") {
				require.Equal(t, room.Locked, b.stand().Status)
				require.Zero(t, b.stand().Lease.ClaimBy, "it need not claim its turn (rule 11)")
				return
			}
			require.Equal(t, room.Locked, next.stand().Status)
			require.Equal(t, 1, b.stand().Position)
			b.join() // its page is open again, and says so
			next.leave(room.Completed)
			require.Equal(t, room.Locked, b.stand().Status)
		})
	}
}
