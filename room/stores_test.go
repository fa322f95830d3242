package room_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// All keys of a room are in one slot of a cluster: their names contain the room's id as the hash tag. So the
// same scripts run on every kind of Redis.
func TestScriptsRunOnSentinelAndCluster(t *testing.T) {
	for name, start := range map[string]func(testing.TB) redis.UniversalClient{
		"sentinel": func(tb testing.TB) redis.UniversalClient { return redistest.StartSentinel(tb).Client() },
		"cluster":  func(tb testing.TB) redis.UniversalClient { return redistest.StartCluster(tb).Client() },
	} {
		t.Run(name, func(t *testing.T) {
			e := room.New(start(t), room.Config{Journal: 1000})
			var rooms []room.ID
			for i := range 20 { // rooms in many slots
				handOff(t, e, room.ID(fmt.Sprint("room:", i)))
				claimCode(t, e, room.ID(fmt.Sprint("claim:", i)))
				rooms = append(rooms, room.ID(fmt.Sprint("room:", i)))
			}
			for _, err := range e.TrimJournals(t.Context(), e.ReadJournals(t.Context(), rooms, 3)) {
				require.NoError(t, err)
			}
			for _, journal := range e.ReadJournals(t.Context(), rooms, 3) {
				require.NoError(t, journal.Err)
				require.Len(t, journal.Entries, 1)
			}
		})
	}
}

func handOff(t *testing.T, e *room.Engine, id room.ID) {
	a, b := room.NewSession(), room.NewSession()
	for _, session := range []string{a, b} {
		_, err := e.Join(t.Context(), id, room.JoinRequest{Session: session, Seller: session})
		require.NoError(t, err)
	}
	_, err := e.Leave(t.Context(), id, room.LeaveRequest{Session: a, Outcome: room.Completed})
	require.NoError(t, err)
	st, err := e.Stand(t.Context(), id, b)
	require.NoError(t, err)
	require.Equal(t, room.Locked, st.Status)
	snapshot, err := e.Snapshot(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, snapshot.Ranks)
	entries, err := e.ReadJournal(t.Context(), id, 10)
	require.NoError(t, err)
	require.Len(t, entries, 3)
	_, err = e.Leave(t.Context(), id, room.LeaveRequest{Session: b, Outcome: room.Completed})
	require.NoError(t, err)
}

// claimCode makes a holder claim an unmatched message with a code, sends the same text again, and makes the
// holder reject it.
func claimCode(t *testing.T, e *room.Engine, id room.ID) {
	session := room.NewSession()
	st, err := e.Join(t.Context(), id, room.JoinRequest{Session: session, Seller: session, Asks: true})
	require.NoError(t, err)
	last := int64(0)
	brought := func(messageID string) room.Match { // each at a time of its own
		now := storeTime(t, e, id)
		for ; now == last; now = storeTime(t, e, id) {
		}
		last = now
		q := sms(messageID, now, now+1)
		q.Shown.Text, q.Part = "the same", room.Part{Ref: messageID, Parts: 2, Part: 1}
		m, err := e.Match(t.Context(), id, q)
		require.NoError(t, err)
		return m
	}
	require.Equal(t, room.NotExpected, brought("m").Reason)
	_, err = e.Expect(t.Context(), id, room.ExpectRequest{Session: session, Fence: st.Fence, MessageID: "m"})
	require.NoError(t, err)
	require.NoError(t, e.SettleMatch(t.Context(), id, "m", 0, true))
	again := brought("again")
	require.True(t, again.Duplicate)
	require.Equal(t, st.Fence, again.Fence)
	require.NoError(t, e.Reject(t.Context(), id, session, st.Fence, "m"))
	lookAfter(t, e, id, st.Fence)
	_, err = e.Expire(t.Context(), id)
	require.NoError(t, err)
}

// lookAfter looks at a room as support's pages do, and assigns a message to the holder that rejected it.
func lookAfter(t *testing.T, e *room.Engine, id room.ID, fence int64) {
	roster, err := e.Roster(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, roster.Line)
	_, err = e.Glance(t.Context(), id)
	require.NoError(t, err)
	recent, err := e.RecentMessages(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "m", recent[0].MessageID)
	_, err = e.Assign(t.Context(), id, room.AssignRequest{MessageID: "m", Fence: fence, By: byKim})
	require.NoError(t, err)
	require.NoError(t, e.SettleMatch(t.Context(), id, "m", 0, true))
	require.NoError(t, e.Audit(t.Context(), id, byKim))
	require.NoError(t, e.Alert(t.Context(), id))
	rooms, err := e.Active(t.Context())
	require.NoError(t, err)
	require.Contains(t, rooms, id)
}

func storeTime(t *testing.T, e *room.Engine, id room.ID) int64 {
	view, _, err := e.Look(t.Context(), id)
	require.NoError(t, err)
	return view.Now
}

// While Redis moves a room to another node, a free room's lock key is on neither, and its state on the first.
// A call for the lock key alone would begin the room anew on the second.
func TestCallsOfARoomThatMovesToAnotherNodeAreRefusedAsAWhole(t *testing.T) {
	cluster := redistest.StartCluster(t)
	e := room.New(cluster.Client(), room.Config{Recovery: -1})
	a := newSeller(t, e, "a")
	a.join()
	a.leave(room.Completed)
	from, err := cluster.Owner("{integration}:state")
	require.NoError(t, err)
	to, moving := cluster.BeginMove(t, "{integration}:state")

	// It does not know the room, and no node has to know its library.
	another := room.New(cluster.Client(), room.Config{Recovery: -1, Scripts: true})
	_, err = another.Join(t.Context(), integration, room.JoinRequest{Session: room.NewSession(), Seller: "b"})
	require.ErrorIs(t, err, room.ErrStore)
	require.Zero(t, keysOf(t, to, moving), "the second node has nothing of the room")
	require.NotZero(t, keysOf(t, from, moving))
}

func keysOf(t *testing.T, node *redistest.Server, slot int64) int {
	keys, err := node.Client().ClusterGetKeysInSlot(t.Context(), int(slot), 100).Result()
	require.NoError(t, err)
	return len(keys)
}
