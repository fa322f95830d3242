package room_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
)

// roundTrips is a hook that counts a client's round trips to Redis.
type roundTrips struct{ atomic.Int64 }

func (n *roundTrips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return next(ctx, network, addr)
	}
}

func (n *roundTrips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		n.Add(1)
		return next(ctx, cmd)
	}
}

func (n *roundTrips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		n.Add(1)
		return next(ctx, cmds)
	}
}

// handoffs are the ways in which a holder's end grants the lock to the next waiter. The next holder waits for
// all round trips of that call, so the benchmark counts them.
var handoffs = []struct {
	name string
	end  func(ctx context.Context, e *room.Engine, holder string, n int) error
}{
	{"leave", func(ctx context.Context, e *room.Engine, holder string, _ int) error {
		_, err := e.Leave(ctx, integration, room.LeaveRequest{Session: holder, Outcome: room.Completed})
		return err
	}},
	{"match", func(ctx context.Context, e *room.Engine, _ string, n int) error {
		m, err := e.Match(ctx, integration, room.MatchRequest{MessageID: fmt.Sprint("m-", n),
			Shown: room.Message{Text: fmt.Sprintf("인증번호는 [%d] 입니다", 482913+n),
				Code: new(fmt.Sprint(482913 + n))}, Note: room.MessageNote{MessageID: fmt.Sprint("m-",
				n), Text: "인증번호는 [******] 입니다"}})
		if err == nil && m.Result != room.Matched {
			err = fmt.Errorf("message is %s", m.Result)
		}
		return err
	}},
}

// line is a room with a holder and waiters, and a client whose round trips are counted.
type line struct {
	engine *room.Engine
	rdb    *redis.Client
	trips  *roundTrips
	keys   *seal.Keyring
	people []string // sessions, the holder's first
	joined int
}

func newLine(tb testing.TB, people int) *line {
	client := redis.NewClient(&redis.Options{Addr: redistest.Start(tb).Addr()})
	tb.Cleanup(func() { require.NoError(tb, client.Close()) })
	l := &line{rdb: client, trips: &roundTrips{}, keys: seal.NewKeyring([]byte("one secret of all replicas"))}
	l.engine = room.New(client, room.Config{Journal: 100_000, Keys: l.keys})
	client.AddHook(l.trips)
	for range people {
		l.join(tb)
	}
	return l
}

func (l *line) join(tb testing.TB) {
	l.joined++
	session := room.NewSession()
	_, err := l.engine.Join(tb.Context(), integration,
		room.JoinRequest{Session: session, Seller: fmt.Sprint("s-", l.joined)})
	require.NoError(tb, err)
	l.people = append(l.people, session)
}

// next checks that the next waiter holds the lock, and waits 20 ms: an SMS that is sent right at a handoff is
// ambiguous.
func (l *line) next(tb testing.TB) {
	l.people = l.people[1:]
	st, err := l.engine.Stand(tb.Context(), integration, l.people[0])
	require.NoError(tb, err)
	require.Equal(tb, room.Locked, st.Status)
	passUntil(tb, l.rdb, st.Lease.GrantedAt+20)
}

// BenchmarkHandoff times a handoff with a hundred in line and counts its round trips to Redis.
func BenchmarkHandoff(b *testing.B) {
	for _, h := range handoffs {
		b.Run(h.name, func(b *testing.B) {
			l := newLine(b, 100)
			require.NoError(b, h.end(b.Context(), l.engine, l.people[0], -1)) // loads the script
			l.next(b)
			trips := int64(0)
			for n := 0; b.Loop(); n++ {
				before := l.trips.Load()
				err := h.end(b.Context(), l.engine, l.people[0], n)
				trips += l.trips.Load() - before
				b.StopTimer()
				require.NoError(b, err)
				l.next(b)
				l.join(b)
				b.StartTimer()
			}
			b.ReportMetric(float64(trips)/float64(b.N), "round-trips/op")
		})
	}
}

func TestHandoffIsOneRoundTripWithAndWithoutAMatch(t *testing.T) {
	for _, h := range handoffs {
		t.Run(h.name, func(t *testing.T) {
			l := newLine(t, 4)
			require.NoError(t, h.end(t.Context(), l.engine, l.people[0], -1)) // loads the script
			l.next(t)
			for n := range 2 {
				before := l.trips.Load()
				require.NoError(t, h.end(t.Context(), l.engine, l.people[0], n))
				require.EqualValues(t, 1, l.trips.Load()-before)
				l.next(t)
			}
		})
	}
}
