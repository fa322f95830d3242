package room

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// A replica looked at the room before a change made it due. It sets the time of the next look without knowing
// of that change.
func TestRoomThatBecomesDueDuringALookIsLookedAtAgain(t *testing.T) {
	store := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	now := time.Now()
	store.SetTime(now)
	x := newIndex(rdb, newMemory(time.Hour, false), "{waitroom}:", 0)
	_, err := x.register(t.Context(), "integration")
	require.NoError(t, err)
	due := func() []claim {
		found, err := x.claim(t.Context(), 1, time.Second)
		require.NoError(t, err)
		return found.rooms
	}
	looking := due()
	require.Len(t, looking, 1)
	earliest, err := x.dueIn(t.Context(), "integration", 15*time.Second)
	require.NoError(t, err)
	require.False(t, earliest, "a replica looks")
	require.NoError(t, x.reschedule(t.Context(), looking[0], time.Hour, false))
	store.SetTime(now.Add(claimFor))
	again := due()
	require.Len(t, again, 1)
	require.NoError(t, x.reschedule(t.Context(), again[0], time.Hour, false))

	earliest, err = x.dueIn(t.Context(), "integration", 15*time.Second)
	require.NoError(t, err)
	require.True(t, earliest)
	store.SetTime(now.Add(claimFor + 15*time.Second))
	require.Len(t, due(), 1)
}

// With thousands of rooms, a room in which nothing is due is looked at seldom. A lease granted meanwhile does
// not change the index.
func TestRoomIsLookedAtBeforeALeaseIsOverThatIsGrantedAfterThisLook(t *testing.T) {
	for name, use := range map[string]func(*testing.T, *Engine){
		"a message that is shown yet": func(t *testing.T, e *Engine) {
			session := NewSession()
			_, err := e.Join(t.Context(), "integration", JoinRequest{Session: session, Seller: "a"})
			require.NoError(t, err)
			code := "482913"
			m, err := e.Match(t.Context(), "integration",
				MatchRequest{MessageID: "m", Shown: Message{MessageID: "m", Text: code, Code: &code}})
			require.NoError(t, err)
			require.True(t, m.Completes)
		},
		"a lease that was extended": func(t *testing.T, e *Engine) {
			st, err := e.Join(t.Context(), "integration", JoinRequest{Session: NewSession(), Seller: "a"})
			require.NoError(t, err)
			_, err = e.Extend(t.Context(), "integration", "", st.Fence, 5*time.Minute,
				Action{Who: "kim", Action: "test", Reason: "because"})
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := redistest.StartEmbedded(t)
			rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
			t.Cleanup(func() { require.NoError(t, rdb.Close()) })
			e := New(rdb, Config{Recovery: -1})
			use(t, e)
			entries, err := e.ReadJournal(t.Context(), "integration", 100)
			require.NoError(t, err)
			require.NoError(t, e.TrimJournal(t.Context(), "integration", entries)) // the ledger has it
			found, _, err := e.expire(t.Context(), "integration", time.Hour, "")
			require.NoError(t, err)
			require.False(t, found.Asleep)
			require.LessOrEqual(t, found.NextAt-found.Now, e.Config().Lease.Milliseconds())
		})
	}
}
