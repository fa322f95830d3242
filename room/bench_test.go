package room_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// BenchmarkLine times join, position and leave with 10 and with 100,000 waiting.
func BenchmarkLine(b *testing.B) {
	for _, waiting := range []int{10, 100_000} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			rdb := redistest.Start(b).Client()
			e := room.New(rdb, room.Config{Journal: 1000})
			fill(b, e, waiting)
			var spent [3]time.Duration
			b.ResetTimer()
			for b.Loop() {
				session := room.NewSession()
				steps := [3]func() error{
					func() error {
						_, err := e.Join(b.Context(), integration,
							room.JoinRequest{Session: session, Seller: session})
						return err
					},
					func() error { _, err := e.Stand(b.Context(), integration, session); return err },
					func() error {
						_, err := e.Leave(b.Context(), integration,
							room.LeaveRequest{Session: session, Outcome: room.Cancelled})
						return err
					},
				}
				for i, step := range steps {
					start := time.Now()
					require.NoError(b, step())
					spent[i] += time.Since(start)
				}
			}
			for i, name := range []string{"join", "position", "leave"} {
				b.ReportMetric(float64(spent[i].Microseconds())/float64(b.N), name+"-µs")
			}
		})
	}
}

// fill joins waiters by the real script.
func fill(b testing.TB, e *room.Engine, waiting int) {
	_, err := e.Join(b.Context(), integration, room.JoinRequest{Session: room.NewSession(), Seller: "holder"})
	require.NoError(b, err)
	const workers = 16
	errs := make(chan error, workers)
	for w := range workers {
		go func() {
			for i := w; i < waiting; i += workers {
				if _, err := e.Join(b.Context(), integration,
					room.JoinRequest{Session: room.NewSession(), Seller: fmt.Sprint("w", i)}); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range workers {
		require.NoError(b, <-errs)
	}
}
