package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// readiness records the /readyz answers of a replica while the test runs.
type readiness struct {
	mu     sync.Mutex
	asked  int
	behind int
	wrong  []string
}

func (r *readiness) watch(ctx context.Context, f *fleet) {
	for n := 0; linger(ctx, 50*time.Millisecond) == nil; n++ {
		got, err := f.ask(ctx, f.members[n%len(f.members)].url, call{method: http.MethodGet, path: "/readyz"})
		if ctx.Err() != nil {
			return
		}
		r.mu.Lock()
		r.asked++
		if strings.Contains(got.body, `"ledger":"behind"`) {
			r.behind++
		}
		if err != nil || got.status != http.StatusOK {
			r.wrong = append(r.wrong, fmt.Sprint(got.status, got.body, err))
		}
		r.mu.Unlock()
	}
}

// awaitBehind returns when an answer has named the ledger as behind.
func (r *readiness) awaitBehind(t *testing.T) {
	t.Helper()
	testproc.Until(t, patience, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.behind == 0 {
			return fmt.Errorf("asked %d times, and the ledger is not said to be behind", r.asked)
		}
		return nil
	})
}

func TestSellersDoNotNoticeThatTheDatabaseIsAway(t *testing.T) {
	database := pgtest.Start(t)
	t.Cleanup(database.Start) // others use it after this test
	s := openStreet(t, 2, 2, database.URL())
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	var ready readiness
	watching, enough := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); ready.watch(watching, s.fleet) }()

	s.fill(ctx)
	s.awaitLeases(10)
	database.Stop()
	before, away := s.book.leases(), time.Now()
	s.awaitLeases(before + 20)
	ready.awaitBehind(t)
	during, length := s.book.leases()-before, time.Since(away).Round(time.Millisecond)
	database.Start()
	s.awaitLeases(before + during + 10)
	s.close()
	s.awaitCaughtUp()
	enough()
	<-watched

	t.Logf("%d leases before the outage, %d in its %s; readyz asked %d times, behind %d times; slowest "+
		"answers %v",
		before, during, length, ready.asked, ready.behind, s.fleet.slowest)
	require.Zero(t, s.fleet.failed.Load(), "requests failed")
	require.Empty(t, ready.wrong)
	s.check()
}

// awaitLeases returns when the sellers have had this many leases.
func (s *street) awaitLeases(n int) {
	s.t.Helper()
	testproc.Until(s.t, patience, func() error {
		select {
		case err := <-s.ended:
			require.NoError(s.t, err)
		default:
		}
		if have := s.book.leases(); have < n {
			return fmt.Errorf("%d leases of %d", have, n)
		}
		return nil
	})
}

// awaitCaughtUp returns when no replica reports the ledger as behind.
func (s *street) awaitCaughtUp() {
	s.t.Helper()
	for _, m := range s.fleet.members {
		testproc.Until(s.t, patience, func() error {
			r, err := s.fleet.ask(s.t.Context(), m.url, call{method: http.MethodGet, path: "/readyz"})
			if err == nil && !strings.Contains(r.body, `"ledger":"ok"`) {
				err = fmt.Errorf("readyz: %s", r.body)
			}
			return err
		})
	}
}
