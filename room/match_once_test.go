package room_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestSameMessageGetsTheSameAnswerAndHasNoSecondEffect(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
		first := a.join()
		b.join()
		c.join()
		answer := match(t, e, sms("m", 0, 0))
		require.Equal(t, room.Matched, answer.Result)
		require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, true))
		second := b.stand()
		require.Equal(t, room.Locked, second.Status)
		answer.Judge = false // the ledger agreed
		require.Equal(t, answer, match(t, e, sms("m", 0, 0)), "without a time, under the next lease")
		require.Equal(t, answer, match(t, e, sms("m", second.Lease.GrantedAt, second.Lease.GrantedAt+1)),
			"with another time")
		other := sms("m", 0, 0)
		other.Shown.Text = "other"
		require.Equal(t, answer, match(t, e, other), "with another text")
		after := b.stand()
		require.Equal(t, second.Version, after.Version)
		require.Equal(t, second.Lease, after.Lease)
		require.Equal(t, first.Fence, answer.Fence)
		_, seats, err := e.Look(t.Context(), integration, a.session, b.session, c.session)
		require.NoError(t, err)
		require.Equal(t, []string{"text of m"}, texts(seats[0].Messages))
		require.Empty(t, seats[1].Messages)
		none := match(t, e, sms("n", 1, 2))
		require.Equal(t, none, match(t, e, sms("n", 0, 0)), "no lease stays no lease")
		require.Equal(t, 2, journalled(t, e, "message"))

		elsewhere, err := e.Match(t.Context(), "other", sms("m", 0, 0))
		require.NoError(t, err)
		requireNone(t, room.NoLease, elsewhere, "ids are a room's own")
	})
}

func journalled(t *testing.T, e *room.Engine, kind string) int {
	t.Helper()
	entries, err := e.ReadJournal(t.Context(), integration, 1000)
	require.NoError(t, err)
	n := 0
	for _, entry := range entries {
		for _, r := range entry.Records {
			if r.Type == kind {
				n++
			}
		}
	}
	return n
}

func TestReplicasWithTheSameMessageAtOnceMatchItOnce(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		const n = 16
		engines := []*room.Engine{room.New(rdb, room.Config{Journal: 100}),
			room.New(rdb, room.Config{Journal: 100})}
		a := newSeller(t, engines[0], "a")
		first := a.join()
		for i := range n {
			newSeller(t, engines[0], "waiter"+strings.Repeat("x", i)).join()
		}
		answers, errs := make([]room.Match, n), make([]error, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				answers[i], errs[i] = engines[i%2].Match(t.Context(), integration, sms("m", 0, 0))
			})
		}
		all.Wait()
		for i := range n {
			require.NoError(t, errs[i])
			requireLease(t, room.Matched, first.Lease, answers[i], "every replica")
		}
		require.Equal(t, int64(2), a.stand().Lease.Ticket, "one handoff")
		require.Equal(t, 1, journalled(t, engines[0], "message"))
	})
}

func TestLostReplyOfAMatchEndsOneLease(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	e := room.New(proxy.Client(), room.Config{})
	a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
	first := a.join()
	b.join()
	lost := proxy.DropNextReply(mentions("\r\nmatch\r\n"))
	m := match(t, e, sms("m", 0, 0))
	<-lost
	requireLease(t, room.Matched, first.Lease, m, "the client's own repeat")
	require.Equal(t, room.Locked, b.stand().Status)
}
