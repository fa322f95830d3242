package ledger_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// court is a room whose leases have to be claimed, with a ledger. The test sets Redis's clock.
type court struct {
	*testing.T
	store  *miniredis.Miniredis
	engine *room.Engine
	ledger *ledger.Ledger
	now    time.Time
}

func newCourt(t *testing.T, b *bench) *court {
	c := &court{T: t, store: redistest.StartEmbedded(t), now: time.UnixMilli(1_800_000_000_000)}
	c.store.SetTime(c.now)
	rdb := redis.NewClient(&redis.Options{Addr: c.store.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	c.engine = room.New(rdb, room.Config{ClaimWithin: 20 * time.Second, Journal: 1000, Recovery: -1})
	config := b.config()
	config.Journal, config.Rooms = c.engine, c.engine
	c.ledger = b.openWith(t, config)
	return c
}

func (c *court) pass(d time.Duration) {
	c.Helper()
	c.now = c.now.Add(d)
	c.store.SetTime(c.now)
	_, err := c.engine.Expire(c.Context(), here)
	require.NoError(c, err)
}

func (c *court) join(seller string) string {
	c.Helper()
	session := room.NewSession()
	_, err := c.engine.Join(c.Context(), here, room.JoinRequest{Session: session, Seller: seller})
	require.NoError(c, err)
	return session
}

func (c *court) leave(session string) {
	c.Helper()
	_, err := c.engine.Leave(c.Context(), here, room.LeaveRequest{Session: session, Outcome: room.Completed})
	require.NoError(c, err)
}

func (c *court) claim(session string) room.Standing {
	c.Helper()
	st, err := c.engine.ClaimTurn(c.Context(), here, room.ClaimRequest{Session: session})
	require.NoError(c, err)
	return st
}

func TestUnclaimedLeaseIsOverAndItsPlaceGoesOn(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		c := newCourt(t, b)
		a, s := c.join("a"), c.join("b")
		_, err := c.engine.Presence(t.Context(), here, 1, 1, []string{s}, nil)
		require.NoError(t, err)
		c.leave(a)
		c.pass(20 * time.Second)
		require.NoError(t, c.ledger.Drain(t.Context(), here))
		require.Equal(t, []string{"completed", "unclaimed"}, column(t, c.ledger.DB(), `SELECT outcome FROM leases
			ORDER BY fence`))
		require.Equal(t, []string{"completed", ""}, column(t, c.ledger.DB(), `SELECT COALESCE(outcome, '')
			FROM places ORDER BY ticket`))

		require.Equal(t, room.Locked, c.claim(s).Status)
		c.join("z")
		c.leave(s)
		require.NoError(t, c.ledger.Drain(t.Context(), here))
		require.Equal(t, []string{"completed", "unclaimed", "completed", ""}, column(t, c.ledger.DB(), `SELECT
			COALESCE(outcome, '') FROM leases ORDER BY fence`))
		require.Equal(t, []string{"completed", "completed", ""}, column(t, c.ledger.DB(), `SELECT COALESCE(outcome,
			'') FROM places ORDER BY ticket`))
		require.Zero(t, count(t, c.ledger, "incidents"))
		require.Zero(t, count(t, c.ledger, "parked"))

		var outcomes []string
		for _, text := range column(t, c.ledger.DB(), `SELECT payload FROM outbox_tasks
			WHERE payload LIKE '{"type":"lock.ended"%' ORDER BY id`) {
			var p struct {
				Data struct{ Outcome string }
			}
			require.NoError(t, json.Unmarshal([]byte(text), &p))
			outcomes = append(outcomes, p.Data.Outcome)
		}
		require.Equal(t, []string{"completed", "unclaimed", "completed"}, outcomes)

		at := c.now.UnixMilli() / 60_000 * 60_000
		minutes, err := c.ledger.Minutes(t.Context(), here, at, at+60_000, true)
		require.NoError(t, err)
		require.Equal(t, map[room.Outcome]int{room.Completed: 2, room.Unclaimed: 1}, minutes[0].Outcomes)
		page, err := c.ledger.History(t.Context(), here, read.Filter{Seller: "b", Limit: 10})
		require.NoError(t, err)
		require.Equal(t, "unclaimed", string(page.Leases[0].Outcome))
		require.Len(t, page.Places, 1)
	})
}

func TestPlaceThatIsUnclaimedTwiceIsDroppedInTheLedger(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		c := newCourt(t, b)
		a, s, z := c.join("a"), c.join("b"), c.join("z")
		_, err := c.engine.Presence(t.Context(), here, 1, 1, []string{s}, nil)
		require.NoError(t, err)
		c.leave(a)
		c.pass(20 * time.Second)
		require.Equal(t, room.Waiting, c.claim(s).Status)
		c.leave(z)
		c.pass(20 * time.Second)
		require.NoError(t, c.ledger.Drain(t.Context(), here))
		require.Equal(t, []string{"completed", "unclaimed", "completed", "unclaimed"},
			column(t, c.ledger.DB(), `SELECT outcome FROM leases ORDER BY fence`))
		require.Equal(t, []string{"completed", "dropped", "completed"}, column(t, c.ledger.DB(), `SELECT outcome
			FROM places ORDER BY ticket`))
		require.Equal(t, 1, count(t, c.ledger,
			"places WHERE ticket = 2 AND fence = (SELECT MAX(fence) FROM leases)"))
		require.Zero(t, count(t, c.ledger, "parked"))
	})
}

// Redis lost a lease that was not claimed; a replica that observed the lease replays it.
func TestLostUnclaimedLeaseIsInTheLedger(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, room.Record{Type: "epoch", At: 1}, room.Record{Type: "joined", At: 2, Ticket: 1, Seller: "a"})
		require.NoError(t, l.Drain(t.Context(), here))
		observed := room.Record{Type: "told", At: 50, Of: 1, Ticket: 1, Seller: "a", Fence: 7, GrantedAt: 10,
			ExpiresAt: 40, Outcome: room.Unclaimed, EndedAt: 20}
		b.write(2, observed, room.Record{Type: "epoch", At: 50, Kept: []room.Kept{{Ticket: 1, Seller: "a"}}})
		b.write(3, observed, room.Record{Type: "epoch", At: 60, Kept: []room.Kept{{Ticket: 1, Seller: "a"}}})
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"7 unclaimed 20"}, column(t, l.DB(), `SELECT fence || ' ' || outcome || ' ' ||
			ended_at FROM leases`))
		require.Equal(t, []string{"1 "}, column(t, l.DB(), `SELECT ticket || ' ' || COALESCE(outcome, '')
			FROM places`))
		require.Zero(t, count(t, l, "parked"))
	})
}
