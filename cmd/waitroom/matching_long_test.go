//go:build long

package main

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
)

// kill kills replicas, never all at once, until enough has happened. It runs on the test's own goroutine.
func (s *street) kill(ctx context.Context, leases, least int) (kills int) {
	rng := rand.New(rand.NewPCG(s.seed, 1<<32))
	for kills < least || s.book.leases() < leases {
		select {
		case err := <-s.ended:
			require.NoError(s.t, err)
		case <-time.After(time.Duration(50+rng.IntN(800)) * time.Millisecond):
		}
		require.NoError(s.t, ctx.Err(), "%d leases, %d kills", s.book.leases(), kills)
		m := s.fleet.members[rng.IntN(len(s.fleet.members))]
		m.process.Kill()
		kills++
		require.NoError(s.t, linger(ctx, time.Duration(rng.IntN(300))*time.Millisecond))
		s.fleet.start(m)
	}
	return kills
}

func TestEverySMSBelongsToExactlyOneLease(t *testing.T) {
	s := openStreet(t, 3, 10, pgtest.Start(t).URL())
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	began := time.Now()
	s.fill(ctx)
	kills := s.kill(ctx, 300, 8)
	s.close()
	t.Logf("%d kills in %s", kills, time.Since(began).Round(time.Millisecond))
	x, truth := s.check()
	require.Less(t, 50*x.cautious, len(s.carrier.messages), "too many messages are nobody's whose time says "+
		"whose they are")
	require.GreaterOrEqual(t, s.book.leases(), 300)
	require.Greater(t, truth.inside, 80, "too few codes were sent within their quarantine")
	require.Greater(t, truth.insideRight, truth.inside/3, "too few of them came to their own")
	require.Positive(t, truth.beyond, "no code was sent after it")
}
