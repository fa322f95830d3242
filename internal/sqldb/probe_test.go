package sqldb

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

func TestClosedProbeHasLeftTheDatabasesFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := true
		p := probe{within: time.Second, allow: rate.NewLimiter(rate.Inf, 1), ping: func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(time.Second / 2) // it does not end at once
			open = false
			return ctx.Err()
		}}
		p.start(func(error) {})
		synctest.Wait()
		p.close()
		require.False(t, open)
	})
}

func TestProbeOfASystemThatHangsIsNotWaitedForInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan error)
		p := probe{within: time.Second, allow: rate.NewLimiter(rate.Inf, 1),
			ping: func(context.Context) error { return <-answers }}
		p.start(func(error) {})
		synctest.Wait()
		began := time.Now()
		p.close()
		require.Equal(t, time.Second, time.Since(began))
		answers <- nil
	})
}

func TestProbesOfASystemThatHangsShareOnePing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pings, answers, results := 0, make(chan error), make(chan error, 1)
		p := probe{within: time.Second, allow: rate.NewLimiter(rate.Inf, 1), ping: func(context.Context) error {
			pings++
			return <-answers
		}}
		probed := func() error {
			p.start(func(err error) { results <- err })
			return <-results
		}
		for range 3 {
			require.Error(t, probed())
		}
		require.Equal(t, 1, pings)
		answers <- nil
		synctest.Wait()
		go func() { answers <- nil }()
		require.NoError(t, probed())
		require.Equal(t, 2, pings)
		p.close()
	})
}
