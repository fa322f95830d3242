package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// outageLength is how long the database stays away; WAITROOM_TEST_OUTAGE=30s asks for more.
func outageLength(t *testing.T) time.Duration {
	d, err := time.ParseDuration(os.Getenv("WAITROOM_TEST_OUTAGE"))
	if err != nil {
		d = 5 * time.Second
	}
	t.Logf("WAITROOM_TEST_OUTAGE=%s", d)
	return d
}

// readiness is what a replica's /readyz said while the test ran.
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

func (r *readiness) saidBehind() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.behind
}

func TestSellersDoNotNoticeThatTheDatabaseIsAway(t *testing.T) {
	database := pgtest.StartOwn(t)
	s := openStreet(t, 2, 5, database.URL())
	length := outageLength(t)
	ctx, cancel := context.WithTimeout(t.Context(), length+time.Minute)
	defer cancel()
	var ready readiness
	watching, enough := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); ready.watch(watching, s.fleet) }()

	s.fill(ctx)
	s.awaitLeases(30)
	before := s.book.leases()
	database.Stop()
	require.NoError(t, linger(ctx, length))
	s.awaitLeases(2*before + 1) // on a slow machine it is away for longer
	during := s.book.leases() - before
	behind := ready.saidBehind()
	database.Start()
	s.awaitLeases(before + during + 30)
	s.close()
	s.awaitCaughtUp()
	enough()
	<-watched

	t.Logf("%d leases before the outage, %d in its %s; readyz asked %d times, behind %d times; slowest answers %v",
		before, during, length, ready.asked, ready.behind, s.fleet.slowest)
	require.Zero(t, s.fleet.failed.Load(), "requests failed")
	require.Empty(t, ready.wrong)
	require.Positive(t, behind, "readyz names the ledger as behind")
	require.Greater(t, during, before, "the sellers went on")
	s.check()
}

// awaitLeases returns when the sellers have had so many leases.
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

// awaitCaughtUp returns when no replica says that the ledger is behind.
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
