package dialer_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/server/dialer"
)

func TestServerThatIsBackIsUsedAtOnceHoweverOftenItWasTriedMeanwhile(t *testing.T) {
	s := redistest.Start(t)
	o := redis.Options{Addr: s.Addr(), PoolSize: 2, MaxRetries: -1, DialerRetries: 1}
	o.Dialer = dialer.Eager(redis.NewDialer(&o))
	c := redis.NewClient(&o)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	s.Stop()
	for range 10 {
		require.ErrorContains(t, c.Ping(t.Context()).Err(), "dial tcp "+s.Addr()+": connect: connection refused")
	}
	s.Restart()
	require.NoError(t, c.Ping(t.Context()).Err())
}
