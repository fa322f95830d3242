package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

func TestADeliveryIsSignedAndItsIDStaysTheSame(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		var ids []string
		b.receiver.answers(func(q *http.Request) int {
			ids = append(ids, q.Header.Get("webhook-id"))
			if len(ids) == 1 {
				return http.StatusBadGateway
			}
			return http.StatusOK
		})
		w := b.worker(t)
		require.NoError(t, w.Tick(t.Context()))
		require.Len(t, ids, 1, "one tick tries a task once")
		b.clock.Move(time.Second)
		require.NoError(t, w.Tick(t.Context()))
		require.Len(t, ids, 2)
		require.Equal(t, ids[0], ids[1])
		require.Equal(t, []string{`{"type":"lock.granted","lease":"integration/1"}`}, b.receiver.bodies())
		require.Zero(t, b.receiver.forged)

		b.clock.Move(time.Hour)
		require.NoError(t, w.Tick(t.Context()))
		require.Len(t, ids, 2, "what is delivered is not delivered again")
	})
}

func TestTheTaskIsEnqueuedOnlyWithItsTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		tx, err := b.db.Begin()
		require.NoError(t, err)
		require.NoError(t, outbox.Enqueue(t.Context(), tx, b.dialect, outbox.Task{LeaseKey: "integration/1", Payload: "{}"}))
		require.NoError(t, tx.Rollback())
		_, ok := b.claim(t)
		require.False(t, ok)
	})
}

func TestADeliveredTaskIsNotPostedAgainWhenRecordingItFails(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		var recorded []string
		broken := errors.New("books are closed")
		w, err := outbox.NewWorker(outbox.Config{Store: b.store, URL: b.receiver.server.URL, Secret: secret,
			Recorded: func(_ context.Context, task outbox.Task) error {
				recorded = append(recorded, task.Type)
				return broken
			}})
		require.NoError(t, err)
		require.NoError(t, w.Tick(t.Context()))
		broken = nil
		b.clock.Move(time.Second)
		require.NoError(t, w.Tick(t.Context()))
		require.Len(t, b.receiver.told(), 1)
		require.Equal(t, []string{"lock.granted", "lock.granted"}, recorded)
		counts, err := b.store.Count(t.Context())
		require.NoError(t, err)
		require.Zero(t, counts.Pending)
	})
}

// Three workers, one killed while its deliveries hang: each delivery is made, in order per lease, by
// one worker at a time.
func TestAKilledWorkersTasksAreTakenOver(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		const leases = 12
		kinds := []string{"lock.granted", "sms.matched", "lock.ended"}
		for _, kind := range kinds {
			for lease := range leases {
				b.put(t, fmt.Sprintf("integration/%d", lease), kind)
			}
		}
		hanging := make(chan struct{}, 100)
		b.receiver.answers(func(q *http.Request) int {
			hanging <- struct{}{}
			<-q.Context().Done()
			return http.StatusServiceUnavailable
		})
		victim, kill := context.WithCancel(t.Context())
		killed := make(chan error, 1)
		go func() { killed <- b.worker(t).Tick(victim) }()
		for range 8 {
			<-hanging // every one of its goroutines holds a task
		}
		kill()
		require.ErrorIs(t, <-killed, context.Canceled)
		b.receiver.answers(nil)

		ticks := func() {
			var wg sync.WaitGroup
			for range 2 {
				w := b.worker(t)
				wg.Go(func() {
					ctx, cancel := background(t)
					defer cancel()
					if err := w.Tick(ctx); err != nil {
						t.Errorf("tick: %v", err)
					}
				})
			}
			wg.Wait()
		}
		ticks()
		require.Len(t, b.receiver.told(), (leases-8)*len(kinds), "what the dead worker held stays locked")
		b.clock.Move(31 * time.Second)
		ticks()

		require.False(t, b.receiver.overlap, "two workers had one task at a time")
		require.Len(t, b.receiver.told(), leases*len(kinds))
		for lease := range leases {
			var got []string
			for _, body := range b.receiver.bodies() {
				if strings.Contains(body, fmt.Sprintf(`"integration/%d"`, lease)) {
					got = append(got, strings.Split(body, `"`)[3])
				}
			}
			require.Equal(t, kinds, got, "lease %d", lease)
		}
		ids := map[string]bool{}
		for _, d := range b.receiver.told() {
			ids[d.id] = true
		}
		require.Len(t, ids, leases*len(kinds))
	})
}

func TestAFailingLeaseHoldsUpNoOther(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		b.put(t, "integration/1", "lock.ended")
		b.put(t, "integration/2", "lock.granted")
		failing := b.eventID(t, 1)
		b.receiver.answers(func(q *http.Request) int {
			if q.Header.Get("webhook-id") == failing {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		w := b.worker(t)
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, []string{`{"type":"lock.granted","lease":"integration/2"}`}, b.receiver.bodies())
		b.receiver.answers(nil)
		b.clock.Move(time.Second)
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, []string{`{"type":"lock.granted","lease":"integration/1"}`, `{"type":"lock.ended","lease":"integration/1"}`},
			b.receiver.bodies()[1:])
	})
}

func (b *bench) eventID(t *testing.T, id int64) (event string) {
	t.Helper()
	require.NoError(t, b.db.QueryRow(b.dialect.Bind(`SELECT event_id FROM outbox_tasks WHERE id = $1`), id).Scan(&event))
	return event
}

func TestWhatIsKeptOfAFailureDoesNotNameTheAddress(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.put(t, "integration/1", "lock.granted")
		w, err := outbox.NewWorker(outbox.Config{Store: b.store, URL: "http://user:canary@127.0.0.1:1/canary", Secret: secret})
		require.NoError(t, err)
		require.NoError(t, w.Tick(t.Context()))
		b.clock.Move(time.Second)
		task, ok := b.claim(t)
		require.True(t, ok)
		require.NotEmpty(t, task.LastError)
		require.NotContains(t, task.LastError, "canary")
	})
}

func TestAWrongSettingIsNamedButNotShown(t *testing.T) {
	for _, c := range []struct{ url, secret, want string }{
		{"ftp://canary", secret, "WEBHOOK_URL"},
		{"://canary", secret, "WEBHOOK_URL"},
		{"https://example.com", "canary!", "WEBHOOK_SECRET"},
		{"https://example.com", "", "WEBHOOK_SECRET"},
		{"https://example.com", "whsec_", "WEBHOOK_SECRET"},
	} {
		_, err := outbox.NewWorker(outbox.Config{URL: c.url, Secret: c.secret})
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "canary")
	}
}
