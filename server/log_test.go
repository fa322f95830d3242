package server

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

func TestARepeatingFailureIsLoggedOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := newThrottledLog(slog.New(slog.NewTextHandler(&out, nil)), 10*time.Second)
		lines := func() int { return strings.Count(out.String(), "is broken") }

		for range 9 {
			log.failed("is broken", errors.New("why"))
			time.Sleep(time.Second)
		}
		require.Equal(t, 1, lines(), "the first is logged at once")
		time.Sleep(time.Second)
		log.failed("is broken", errors.New("why"))
		require.Equal(t, 2, lines())
	})
}

// outageLines logs two lines in each of several seconds, and returns the lines that were written.
func outageLines(t *testing.T, log *slog.Logger, out *bytes.Buffer, from time.Time, seconds int) []string {
	t.Helper()
	out.Reset()
	away := fmt.Errorf("claim: %w", sqldb.ErrAway)
	for n := range seconds {
		for _, sentence := range []string{"outbox waits", "ledger does not take in"} {
			r := slog.NewRecord(from.Add(time.Duration(n)*time.Second), slog.LevelWarn, sentence, 0)
			r.Add("error", away)
			require.NoError(t, log.Handler().Handle(t.Context(), r))
		}
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestAnOutageIsOneLineAndThenOneAMinute(t *testing.T) {
	var out bytes.Buffer
	log := newOutageLog(slog.New(slog.NewTextHandler(&out, nil)))
	began := time.Now()
	lines := outageLines(t, log, &out, began, 161)
	require.Len(t, lines, 3)
	require.NotContains(t, lines[0], "left_out")
	require.Contains(t, lines[1], "left_out=119")

	again := outageLines(t, log.With("replica", "a"), &out, began.Add(200*time.Second), 1)
	require.Len(t, again, 1, "the next outage is spoken of at once")
	require.Contains(t, again[0], "replica=a")
}

func TestALineThatIsOfNoOutagePasses(t *testing.T) {
	var out bytes.Buffer
	log := newOutageLog(slog.New(slog.NewTextHandler(&out, nil)))
	for range 3 {
		log.Error("parked", "error", errors.New("the entry is of a later version"))
		log.Error("refused")
		log.Info("database is back")
		log.Warn("task failed", "reason", sqldb.ErrAway) // a word on something else
	}
	require.Equal(t, 12, strings.Count(out.String(), "\n"))
}

// The outbox, the ledger and their callers retry every second, and each would log a line.
func TestWhileTheDatabaseIsAwayTheLogHasOneLine(t *testing.T) {
	t.Parallel() // it waits
	database, away, back := cutOffDatabase(t)
	log := &testproc.Log{}
	made, err := New(t.Context(), config(t, "--redis-url", redistest.Lent(t).URL(), "--database-url", database,
		"--webhook-url", "http://127.0.0.1:9", "--webhook-secret", smsSecret),
		slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	r := run(t, made)
	away()
	newSeller(t, r.URL(), "a").join()
	testproc.Until(t, patience, func() error {
		since, _ := r.db.State()
		if failures := r.db.Stats().Failures; since.IsZero() || time.Since(since) < 3*time.Second || failures < 3 {
			return fmt.Errorf("away since %v, %d failures", since, failures)
		}
		return nil
	})
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN")+strings.Count(log.String(), "level=ERROR"),
		log.String())
	back()
	testproc.Until(t, patience, func() error {
		if !strings.Contains(log.String(), "database is back") {
			return errors.New(log.String())
		}
		return nil
	})
}
