package server

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

func TestAC01_ReadySellerGetsAFreeLockForTwoMinutes(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := start(t, config(t, "--redis-url", store))
		a := newSeller(t, r.URL(), "s-1")
		got := a.join()
		require.Equal(t, http.StatusOK, got.StatusCode, got.body)
		require.Equal(t, "locked", got.text("status"))
		require.Equal(t, "integration", got.text("room"))
		require.Equal(t, a.session, got.text("session_id"))
		require.Equal(t, "s-1", got.text("seller_id"))
		require.EqualValues(t, 1, got.number("ticket"))
		require.EqualValues(t, 1, got.number("version"))
		require.EqualValues(t, 120, got.number("expires_in"))
		require.Positive(t, got.number("fence"))
		require.Positive(t, got.number("epoch"))
		granted := moment(t, got.text("granted_at"))
		require.Equal(t, 2*time.Minute, moment(t, got.text("expires_at")).Sub(granted))
		require.Len(t, got.json, 11)
	})
}

// moment reads a time of the API: RFC 3339 in UTC with milliseconds, nothing else.
func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05.000Z", text)
	require.NoError(t, err)
	return at
}

func TestAC02_NextSellerWaitsInLineAndSeesHowLong(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := start(t, config(t, "--redis-url", store))
		began := time.Now()
		holder := newSeller(t, r.URL(), "s-1").join()
		newSeller(t, r.URL(), "s-2").join()
		c := newSeller(t, r.URL(), "s-3")
		got := c.join()
		require.Equal(t, http.StatusAccepted, got.StatusCode, got.body)
		require.Equal(t, "waiting", got.text("status"))
		require.Equal(t, c.session, got.text("session_id"))
		require.EqualValues(t, 3, got.number("ticket"))
		require.EqualValues(t, 2, got.number("queue_position"))
		require.EqualValues(t, 2, got.number("queue_length"))
		requireLeft(t, 240, began, got.number("estimated_wait"))
		requireLeft(t, 240, began, got.number("maximum_wait"))
		require.Equal(t, holder.text("expires_at"), got.text("lease_expires_at"))
		require.EqualValues(t, 3, got.number("version"))
		require.Len(t, got.json, 12)
	})
}

// requireLeft requires an answer's remaining seconds to fit a span of `whole` seconds that began after a
// time.
func requireLeft(t *testing.T, whole int64, began time.Time, seconds int64) {
	t.Helper()
	require.LessOrEqual(t, seconds, whole)
	require.GreaterOrEqual(t, seconds, whole-1-int64(time.Since(began).Seconds()))
}

func TestAC03_LeaseEndsByItselfAndTheNextSellerHasTheLock(t *testing.T) {
	t.Parallel() // it waits
	onBothStores(t, func(t *testing.T, store string) {
		r := startLibrary(t, "integration: {lease: 2s}\n", "--redis-url", store)
		a, b := newSeller(t, r.URL(), "s-1"), newSeller(t, r.URL(), "s-2")
		first, second := a.join(), b.join()
		for second.text("status") != "waiting" { // this was slower than the lease
			b.leave("")
			first, second = a.join(), b.join()
		}
		r.reads("integration: {lease: 2m}\n") // so that the next one's is not over before it is looked at
		var mine reply
		testproc.Until(t, patience, func() error {
			if mine = b.status().me(); mine.text("status") != "locked" {
				return fmt.Errorf("the next in line is %s", mine.text("status"))
			}
			return nil
		})
		require.False(t, moment(t, mine.text("granted_at")).Before(moment(t, first.text("expires_at"))),
			"granted before the lease was over")
		require.Greater(t, mine.number("fence"), first.number("fence"))
		gone := a.status().me()
		require.Equal(t, "ended", gone.text("status"))
		require.Equal(t, "expired", gone.text("outcome"))
	})
}

func TestAC04_HolderEndsItsLeaseAtOnceWhenDoneOrGivingUp(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := start(t, config(t, "--redis-url", store))
		for _, reason := range []string{"completed", "cancelled"} {
			a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
			held := a.join()
			b.join()
			got := a.leave(fmt.Sprintf("?reason=%s&fence=%d", reason, held.number("fence")))
			require.Equal(t, http.StatusOK, got.StatusCode, got.body)
			require.Equal(t, "released", got.text("status"))
			require.Equal(t, reason, got.text("outcome"))
			require.Equal(t, held.number("fence"), got.number("fence"))
			require.Equal(t, held.number("ticket"), got.number("ticket"))
			require.Len(t, got.json, 8)

			next := b.status()
			require.Equal(t, "locked", next.me().text("status"), "the next seller has it in the same step")
			require.Equal(t, got.number("version"), next.number("version"), "a handoff is one change")
			require.Equal(t, reason, a.status().me().text("outcome"))
			require.Equal(t, http.StatusOK, b.leave("").StatusCode)
			require.Equal(t, "free", b.status().text("status"))
		}
	})
}

func TestAC05_OfManyAtOnceExactlyOneHoldsAndTheLineDrainsInOrder(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		n := int64(200)
		if store == "embedded" {
			n = 50 // its scripts take longer
		}
		r := start(t, config(t, "--redis-url", store, "--places-per-ip", "0"))
		byTicket := everybodyAtOnce(t, r.URL(), int(n))
		for ticket := range n {
			holder := byTicket[ticket+1]
			require.NotNil(t, holder, "ticket %d is missing", ticket+1)
			me := holder.status().me()
			require.Equal(t, "locked", me.text("status"), "ticket %d is next", ticket+1)
			require.Equal(t, http.StatusOK, holder.leave("?reason=completed").StatusCode)
		}
		left := byTicket[1].status()
		require.Equal(t, "free", left.text("status"))
		require.Zero(t, left.number("queue_length"))
	})
}

// everybodyAtOnce lets n sellers join at the same moment, checks the answers, and returns the sellers by
// ticket.
func everybodyAtOnce(t *testing.T, base string, n int) map[int64]*seller {
	t.Helper()
	client := newHTTP(t)
	gate, replies, sellers := make(chan struct{}), make([]reply, n), make([]*seller, n)
	var group sync.WaitGroup
	for i := range n {
		sellers[i] = &seller{t: t, http: client, base: base, session: room.NewSession(), id: fmt.Sprintf("s-%d", i)}
		group.Go(func() {
			<-gate
			replies[i] = sellers[i].joinAtLast()
		})
	}
	close(gate)
	group.Wait()

	var holders, positions []int64
	byTicket := make(map[int64]*seller, n)
	for i, got := range replies {
		byTicket[got.number("ticket")] = sellers[i]
		switch got.StatusCode {
		case http.StatusOK:
			holders = append(holders, got.number("ticket"))
		case http.StatusAccepted:
			positions = append(positions, got.number("queue_position"))
			require.Equal(t, got.number("ticket")-1, got.number("queue_position"), "the line is in ticket order")
		default:
			require.Fail(t, "unexpected answer", got.body)
		}
	}
	slices.Sort(positions)
	require.Equal(t, []int64{1}, holders)
	require.Equal(t, upTo(int64(n-1)), positions)
	return byTicket
}

// joinAtLast joins, and retries as the answer says while Redis is too slow.
func (s *seller) joinAtLast() (got reply) {
	s.t.Helper()
	for got = s.join(); got.text("code") == "store_unavailable" && s.t.Context().Err() == nil; got = s.join() {
	}
	return got
}

// upTo returns the numbers 1 … n.
func upTo(n int64) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = int64(i) + 1
	}
	return all
}
