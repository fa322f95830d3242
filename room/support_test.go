package room_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

var byKim = room.Action{Who: "kim", Action: "test", Reason: "because"}

func TestSupportEndsALeaseOnlyByItsFence(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.join()
		b.join()
		_, err := e.Release(t.Context(), integration, "", first.Fence-1, byKim)
		require.ErrorIs(t, err, room.ErrStaleFence)
		_, err = e.Release(t.Context(), integration, "", first.Fence, byKim)
		require.NoError(t, err)
		require.Equal(t, room.Forced, a.stand().Outcome)
		require.Equal(t, room.Locked, b.stand().Status)
		_, err = e.Release(t.Context(), integration, "", first.Fence, byKim)
		require.ErrorIs(t, err, room.ErrStaleFence)
	})
}

func TestLeaseIsExtendedToTenMinutesInAllAtTheMost(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		first := newSeller(t, e, "a").join()
		for i := range 4 {
			st, err := e.Extend(t.Context(), integration, "", first.Fence, 2*time.Minute, byKim)
			require.NoError(t, err)
			require.Equal(t, first.Lease.ExpiresAt+int64(i+1)*120_000, st.Lease.ExpiresAt)
		}
		_, err := e.Extend(t.Context(), integration, "", first.Fence, time.Second, byKim)
		require.ErrorIs(t, err, room.ErrLeaseTooLong)
		_, err = e.Extend(t.Context(), integration, "", first.Fence+1, time.Second, byKim)
		require.ErrorIs(t, err, room.ErrStaleFence)
		ttl, err := rdb.PTTL(t.Context(), "{integration}:lock").Result()
		require.NoError(t, err)
		require.Greater(t, ttl, 9*time.Minute, "the key lives as long as the lease")
	})
}

func TestRemovedWaiterHasEndedAndTheRestMoveUp(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		newSeller(t, e, "a").join()
		b, c := newSeller(t, e, "b"), newSeller(t, e, "c")
		ticket := b.join().Ticket
		c.join()
		_, err := e.Remove(t.Context(), integration, "", ticket, byKim)
		require.NoError(t, err)
		require.Equal(t, room.Removed, b.stand().Outcome)
		require.Equal(t, 1, c.stand().Position)
		for _, stale := range []int64{ticket, 1, 99} {
			_, err = e.Remove(t.Context(), integration, "", stale, byKim)
			require.ErrorIs(t, err, room.ErrStaleTicket)
		}
	})
}

// The line's order after each move equals that of a plain slice. Moves to and fro between two neighbours use
// up the ranks between them, and the line is renumbered.
func TestMovedWaitersStandWhereTheyWerePut(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		newSeller(t, e, "holder").join()
		sellers := map[int64]seller{}
		var line []int64
		for i := range 5 {
			s := newSeller(t, e, fmt.Sprint("s", i))
			ticket := s.join().Ticket
			sellers[ticket], line = s, append(line, ticket)
		}
		move := func(ticket int64, position int) {
			_, err := e.Move(t.Context(), integration, "", ticket, position, byKim)
			require.NoError(t, err)
			line = moved(line, ticket, position)
			for i, ticket := range line {
				require.Equal(t, i+1, sellers[ticket].stand().Position)
			}
		}
		move(6, 1)
		move(2, 99)
		move(4, 4)
		for range 70 {
			move(line[2], 2)
		}
		late := newSeller(t, e, "late")
		require.Equal(t, 6, late.join().Position, "a newcomer is last")
		_, err := e.Move(t.Context(), integration, "", 1, 1, byKim)
		require.ErrorIs(t, err, room.ErrStaleTicket, "the holder does not wait")
	})
}

func TestActionIsJournalledWithItsChange(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		fence := newSeller(t, e, "holder").join().Fence
		for i := range 3 {
			newSeller(t, e, fmt.Sprint("s", i)).join()
		}
		for _, more := range []time.Duration{60 * time.Second, 1500 * time.Millisecond} {
			_, err := e.Extend(t.Context(), integration, "", fence, more, byKim)
			require.NoError(t, err)
		}
		for _, position := range []int{1, 99, 3} { // to the head, to the end, and to the same position
			_, err := e.Move(t.Context(), integration, "", 4, position, byKim)
			require.NoError(t, err)
		}
		_, err := e.Move(t.Context(), integration, "", 4, 1, room.Action{})
		require.NoError(t, err)
		var changed []string
		for _, r := range recordsOf(t, e, integration, "action") {
			require.Equal(t, "kim", r.Who)
			require.Equal(t, "because", r.Reason)
			changed = append(changed, fmt.Sprintf("%ds %d→%d", r.Seconds, r.FromPosition, r.ToPosition))
		}
		require.Equal(t, []string{"60s 0→0", "2s 0→0", "0s 3→1", "0s 1→3", "0s 3→3"}, changed,
			"an action without a name is no record")
	})
}

func moved(line []int64, ticket int64, position int) []int64 {
	var rest []int64
	for _, t := range line {
		if t != ticket {
			rest = append(rest, t)
		}
	}
	at := min(position-1, len(rest))
	return append(append(append([]int64{}, rest[:at]...), ticket), rest[at:]...)
}

// A moved waiter's rank is no longer its ticket, so a script searches the whole line for the ticket, part by
// part.
func TestMovedWaiterIsFoundByItsTicketInALongLine(t *testing.T) { onRedis(t, foundInALongLine) }

func foundInALongLine(t *testing.T, rdb redis.UniversalClient) {
	const waiters = 620
	e := room.New(rdb, room.Config{})
	newSeller(t, e, "holder").join()
	var first, last seller
	var ticket int64
	for i := range waiters {
		last = newSeller(t, e, fmt.Sprint("s", i))
		if ticket = last.join().Ticket; i == 0 {
			first = last
		}
	}
	_, err := e.Move(t.Context(), integration, "", 2, waiters, byKim)
	require.NoError(t, err)
	_, err = e.Move(t.Context(), integration, "", ticket, 2, byKim)
	require.NoError(t, err)
	require.Equal(t, 2, last.stand().Position)
	for _, s := range []seller{first, last} {
		_, err = e.Remove(t.Context(), integration, "", s.stand().Ticket, byKim)
		require.NoError(t, err)
		require.Equal(t, room.Removed, s.stand().Outcome)
	}
	_, err = e.Remove(t.Context(), integration, "", ticket, byKim)
	require.ErrorIs(t, err, room.ErrStaleTicket)
}
