package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const integration = room.ID("integration")

// onEveryStore runs a test on the embedded Redis and on a real redis-server.
func onEveryStore(t *testing.T, test func(t *testing.T, rdb redis.UniversalClient)) {
	onEmbedded(t, test)
	onRedis(t, test)
}

func onEmbedded(t *testing.T, test func(t *testing.T, rdb redis.UniversalClient)) {
	t.Run("embedded", func(t *testing.T) {
		rdb := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
		t.Cleanup(func() { require.NoError(t, rdb.Close()) })
		test(t, rdb)
	})
}

func onRedis(t *testing.T, test func(t *testing.T, rdb redis.UniversalClient)) {
	t.Run("redis", func(t *testing.T) { test(t, redistest.Shared(t)) })
	if bothWays {
		t.Run("redis without functions", func(t *testing.T) {
			test(t, withoutFunctions(t, redistest.Shared(t)))
		})
	}
}

// seller is one session under test.
type seller struct {
	t       *testing.T
	engine  *room.Engine
	session string
	name    string
}

func newSeller(t *testing.T, e *room.Engine, name string) seller {
	return seller{t: t, engine: e, session: room.NewSession(), name: name}
}

func (s seller) join() room.Standing {
	s.t.Helper()
	st, err := s.engine.Join(s.t.Context(), integration, room.JoinRequest{Session: s.session, Seller: s.name})
	require.NoError(s.t, err)
	return st
}

// joinFor joins with a lease of its own length.
func (s seller) joinFor(lease time.Duration) room.Standing {
	s.t.Helper()
	st, err := s.engine.Join(s.t.Context(), integration,
		room.JoinRequest{Session: s.session, Seller: s.name, Lease: lease})
	require.NoError(s.t, err)
	return st
}

func (s seller) leave(outcome room.Outcome) room.Standing {
	s.t.Helper()
	st, err := s.engine.Leave(s.t.Context(), integration,
		room.LeaveRequest{Session: s.session, Outcome: outcome})
	require.NoError(s.t, err)
	return st
}

func (s seller) stand() room.Standing {
	s.t.Helper()
	st, err := s.engine.Stand(s.t.Context(), integration, s.session)
	require.NoError(s.t, err)
	return st
}

func (s seller) here(vouch time.Duration) {
	s.t.Helper()
	_, err := s.engine.Seen(s.t.Context(), integration, vouch, []string{s.session}, nil)
	require.NoError(s.t, err)
}

func (s seller) gone() {
	s.t.Helper()
	_, err := s.engine.Seen(s.t.Context(), integration, 0, nil, []string{s.session})
	require.NoError(s.t, err)
}

// passUntil waits until Redis's clock shows at least ms. It only reads the time, so it makes no room advance.
func passUntil(t require.TestingT, rdb redis.UniversalClient, ms int64) {
	for {
		now, err := rdb.Time(context.Background()).Result()
		require.NoError(t, err)
		left := time.UnixMilli(ms).Sub(now)
		if left <= 0 {
			return
		}
		// Redis's clock, which is read again, may differ from this process's
		time.Sleep(min(left, time.Second))
	}
}
