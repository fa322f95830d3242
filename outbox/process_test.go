package outbox_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/outbox"
)

// victimEnv is the variable that makes this test binary a worker that the test kills.
const victimEnv = "OUTBOX_TEST_VICTIM"

type victim struct {
	Source source
	Now    int64 // its clock does not move, like the test's
}

// playVictim does tasks until it is killed. It hangs in the first phase of some tasks and in the second phase
// of all others, and prints which.
func playVictim() int {
	var v victim
	if json.Unmarshal([]byte(os.Getenv(victimEnv)), &v) != nil {
		return 2
	}
	db, err := sql.Open(v.Source.Driver, v.Source.DSN)
	if err != nil {
		return 2
	}
	store := outbox.NewStore(db, v.Source.Dialect,
		outbox.StoreConfig{Now: func() time.Time { return time.UnixMilli(v.Now) }})
	w, err := outbox.NewWorker(outbox.Config{Store: store,
		Kinds: map[string]outbox.Kind{job: {Parallel: held, Do: hang}}})
	if err != nil {
		return 2
	}
	_ = w.Run(context.Background())
	return 0
}

func hang(_ context.Context, t outbox.Task) (outbox.Phase, error) {
	if t.Phase == outbox.Start && !strings.HasPrefix(t.Payload, "slow") {
		return "second", nil
	}
	fmt.Println(t.Payload, t.Phase)
	select {}
}

// held is the number of tasks that the victim has claimed when it dies.
const held = 4

func TestAKilledWorkersTasksAreTakenOverInThePhaseTheyWereIn(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		const tasks = 24
		names := []string{"slow 1", "slow 2"}
		for n := len(names); n < tasks; n++ {
			names = append(names, fmt.Sprint("job ", n))
		}
		for _, name := range names {
			b.put(t, "", name)
		}
		hung := b.kill(t)

		var c calls
		do := c.record(outbox.Phases{
			outbox.Start: func(context.Context, outbox.Task) (outbox.Phase, error) { return "second", nil },
			"second":     func(context.Context, outbox.Task) (outbox.Phase, error) { return outbox.Done, nil },
		}.Do)
		b.tickTwo(t, do)
		b.clock.Move(30 * time.Second)
		b.tickTwo(t, do)
		for what := range c.seen() {
			require.NotContains(t, hung, what, "what the dead worker held stays locked for 30 seconds")
		}
		require.Equal(t, held, b.pending(t))
		b.clock.Move(time.Millisecond)
		b.tickTwo(t, do)

		want := map[string]int{"slow 1 start": 1, "slow 2 start": 1} // the others' was over
		for _, name := range names {
			want[name+" second"] = 1
		}
		require.Equal(t, want, c.seen())
		require.Zero(t, b.pending(t))
		require.False(t, c.overlap)
	})
}

// kill starts a worker process, kills it in the middle of phases, and returns which they were.
func (b *bench) kill(t *testing.T) (hung []string) {
	t.Helper()
	v, err := json.Marshal(victim{b.source, b.clock.Now().UnixMilli()})
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+string(v))
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, os.Stderr
	p, err := testproc.Start(cmd, syscall.SIGKILL)
	require.NoError(t, err)
	go func() { <-p.Done(); _ = in.Close() }()
	defer p.Kill()
	lines := bufio.NewScanner(out)
	for len(hung) < held {
		require.True(t, lines.Scan(), "the worker ended by itself")
		hung = append(hung, lines.Text())
	}
	return hung
}

// tickTwo lets two workers tick at once.
func (b *bench) tickTwo(t *testing.T, do outbox.Handler) {
	t.Helper()
	var wg sync.WaitGroup
	for range 2 {
		w := b.worker(t, do)
		wg.Go(func() {
			if err := w.Tick(t.Context()); err != nil {
				t.Errorf("tick: %v", err)
			}
		})
	}
	wg.Wait()
}
