package lock

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// Keys are equal where all their parts are, and only there; a key that is taken is whole in the names of the store's keys.
func FuzzKey(f *testing.F) {
	for _, seed := range [][4]string{{"stock", "456", "stock", "456"}, {"stock:4", "5", "stock", "4:5"}, {"a", "", "a", "b"}, {"support", "1", "", ""},
		{"ab", "c", "a", "bc"}, {"a}", "b", "{a", "b"}, {"Stock", "1", "stock", "1"}, {"-", "a", "a", "-"}, {"한", "%3A", "한", ":"}, {"lock", "a", "lock", "lock:a"}} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		one, errOne := NewKey(a, b)
		other, errOther := NewKey(c, d)
		for _, err := range []error{errOne, errOther} {
			if err != nil {
				require.ErrorIs(t, err, ErrInvalidKey)
			}
		}
		if errOne != nil {
			require.Equal(t, Key{}, one)
			return
		}
		require.False(t, strings.ContainsAny(one.String(), "{} \r\n\x00"), one.String())
		require.True(t, strings.HasPrefix(string(one.room()), roomPrefix), "no lock is a waiting room")
		require.NotContains(t, one.String(), "::")
		if errOther == nil {
			require.Equal(t, a == c && b == d, one == other, "%q %q and %q %q", a, b, c, d)
		}
		if single, err := NewKey(a); err == nil {
			require.NotEqual(t, one, single, "another number of parts is another key")
		}
	})
}

// Whatever comes as a push: only the waiter whose session and lock it names is told, and once.
func FuzzPush(f *testing.F) {
	const session, key = "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "lock:stock:1"
	for _, seed := range []string{"", "null", "[]", `{"room":"lock:stock:1","session":"` + session + `","fence":7,"granted_at":1,"expires_at":2}`,
		`{"room":"lock:stock:2","session":"` + session + `","fence":7}`, `{"room":"lock:stock:1","session":"x","fence":7}`, `{"Room":"lock:stock:1","SESSION":"` + session + `"}`,
		`{"room":"lock:stock:1","session":"` + session + `","expires_at":9223372036854775807,"granted_at":-9223372036854775808}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		w, neighbour := newWaiter(Key{"stock:1"}, time.Minute), newWaiter(Key{"stock:1"}, time.Minute)
		w.session = session
		l := &Redis{closed: true, log: slog.New(slog.DiscardHandler), unpushed: map[string]time.Time{}, lookNow: make(chan struct{}, 1), lines: map[room.ID]*line{key: {
			waiters: map[string]*waiter{session: w, neighbour.session: neighbour}, tickets: map[int64]*waiter{}}}}
		l.pushed(payload)
		l.mu.Lock()
		defer l.mu.Unlock()
		if timer := l.lines[key].timer; timer != nil {
			timer.Stop()
		}
		require.Empty(t, neighbour.news)
		var said struct {
			Room    room.ID
			Session string
			Fence   int64
		}
		err := json.Unmarshal([]byte(payload), &said)
		if len(w.news) == 0 {
			return
		}
		require.NoError(t, err)
		require.Equal(t, session, said.Session)
		require.EqualValues(t, key, said.Room)
		require.Equal(t, said.Fence, (<-w.news).fence)
	})
}
