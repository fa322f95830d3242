package outbox_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

// model is the expected content of the table.
type model struct {
	tasks []*modelTask
	now   int64
}

type modelTask struct {
	outbox.Task
	claim outbox.Task // as it was last given to a claimant
}

func (m *model) touch(t *modelTask) { t.UpdatedAt = max(m.now, t.UpdatedAt+1) }

// claim takes the oldest task that can be claimed.
func (m *model) claim() *modelTask {
	var best *modelTask
	for i, t := range m.tasks {
		waits := t.Key != "" && slices.ContainsFunc(m.tasks[:i],
			func(e *modelTask) bool { return e.Key == t.Key && e.State == outbox.Open })
		if t.State == outbox.Open && t.LockedAt < m.now-30_000 && !waits &&
			(best == nil || t.UpdatedAt < best.UpdatedAt) {
			best = t
		}
	}
	if best != nil {
		best.LockedAt, best.Attempts = m.now, best.Attempts+1
		if best.WaitingSince == 0 {
			best.WaitingSince = m.now
		}
		m.touch(best)
	}
	return best
}

// holds reports whether the claim is still valid.
func (t *modelTask) holds(claim outbox.Task) bool {
	return t.State == outbox.Open && t.LockedAt == claim.LockedAt && t.Attempts == claim.Attempts
}

func TestEveryStepIsAsTheRulesSay(t *testing.T) { walk(t, 200) }

// walk takes random steps, and compares the database with the model after each.
func walk(t *testing.T, steps int) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	onEach(t, func(t *testing.T, b *bench) {
		t.Log("seed", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		m := &model{}
		for range steps {
			m.now = b.clock.Now().UnixMilli()
			switch r.IntN(8) {
			case 0:
				m.put(t, b, []string{"", "a", "b"}[r.IntN(3)])
			case 1:
				b.clock.Move(time.Duration(r.IntN(3)*r.IntN(20_000)) * time.Millisecond)
			case 2, 3, 4:
				m.claimBoth(t, b)
			default:
				if len(m.tasks) > 0 {
					m.settleBoth(t, b, m.tasks[r.IntN(len(m.tasks))], r.IntN(6))
				}
			}
		}
	})
}

func (m *model) put(t *testing.T, b *bench, key string) {
	name := fmt.Sprint(len(m.tasks))
	b.put(t, key, name)
	m.tasks = append(m.tasks,
		&modelTask{Task: outbox.Task{Kind: job, Key: key, Payload: name, State: outbox.Open, Phase: outbox.Start,
			CreatedAt: m.now, UpdatedAt: m.now}})
}

func (m *model) claimBoth(t *testing.T, b *bench) {
	want := m.claim()
	got, ok := b.claim(t)
	require.Equal(t, want != nil, ok)
	if want == nil {
		return
	}
	want.claim = got
	want.ID, want.UID = got.ID, got.UID
	require.Equal(t, want.Task, got)
}

// settleBoth ends a phase by its task's last claim, which may be over, in the table and in the model.
func (m *model) settleBoth(t *testing.T, b *bench, w *modelTask, how int) {
	ctx, holds := t.Context(), w.holds(w.claim) && w.claim.ID != 0
	next := w.Task
	var err error
	switch how {
	case 0:
		err = b.store.Unlock(ctx, w.claim, "next")
		next.Phase, next.LockedAt, next.WaitingSince, next.LastError = "next", 0, 0, ""
	case 1:
		err = b.store.Unlock(ctx, w.claim, outbox.Done)
		next.State, next.LockedAt, next.WaitingSince, next.LastError = outbox.Finished, 0, 0, ""
	case 2:
		err = b.store.Relock(ctx, w.claim, "why")
		waited := time.Duration(m.now-w.WaitingSince) * time.Millisecond
		next.LockedAt, next.LastError = m.now-30_000+outbox.Backoff(waited).Milliseconds(), "why"
	case 3:
		err = b.store.GiveUp(ctx, w.claim, "no use")
		next.State, next.LockedAt, next.LastError = outbox.Dead, 0, "no use"
	case 4:
		err = b.store.Release(ctx, w.claim)
		next.LockedAt = 0
	case 5:
		holds = w.State == outbox.Dead
		err = b.store.Retry(ctx, w.claim.ID)
		next.State, next.LockedAt, next.WaitingSince = outbox.Open, 0, 0
	}
	switch {
	case holds:
		require.NoError(t, err)
		w.Task = next
		m.touch(w)
	case how == 5:
		require.ErrorIs(t, err, outbox.ErrNotDead)
	default:
		require.ErrorIs(t, err, outbox.ErrNotHeld)
	}
}
