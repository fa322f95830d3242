package lockredis

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/room"
)

// For any payload of a push, only the waiter whose session and lock it names gets its grant, and once.
func FuzzPush(f *testing.F) {
	const session, key = "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "lock:stock:1"
	for _, seed := range []string{"", "null", "[]", `{"room":"lock:stock:1","session":"` + session +
		`","fence":7,"granted":1,"expires":2}`,
		`{"room":"lock:stock:2","session":"` + session +
			`","fence":7}`, `{"room":"lock:stock:1","session":"x","fence":7}`, `{"Room":"lock:stock:1","SESSION":"` +
			session + `"}`,
		`{"room":"lock:stock:1","session":"` + session +
			`","expires":9223372036854775807,"granted":-9223372036854775808}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		stock, err := lock.NewKey("stock", "1")
		require.NoError(t, err)
		w, neighbour := newWaiter(stock, time.Minute), newWaiter(stock, time.Minute)
		w.session = session
		l := &Locker{closed: true, log: slog.New(slog.DiscardHandler), unpushed: map[string]time.Time{},
			lookNow: make(chan struct{}, 1), lines: map[room.ID]*line{key: {
				waiters: map[string]*waiter{session: w, neighbour.session: neighbour}, tickets: map[int64]*waiter{}}}}
		l.pushed(payload)
		l.mu.Lock()
		defer l.mu.Unlock()
		if timer := l.lines[key].timer; timer != nil {
			timer.Stop()
		}
		require.Empty(t, neighbour.result)
		var pushed struct {
			Room    room.ID
			Session string
			Fence   int64
		}
		err = json.Unmarshal([]byte(payload), &pushed)
		if len(w.result) == 0 {
			return
		}
		require.NoError(t, err)
		require.Equal(t, session, pushed.Session)
		require.EqualValues(t, key, pushed.Room)
		require.Equal(t, pushed.Fence, (<-w.result).fence)
	})
}
