package room_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// takesWrites sets whether Redis accepts writes from now on.
func takesWrites(t *testing.T, rdb *redis.Client, takes bool) {
	t.Helper()
	replicas := map[bool]string{true: "0", false: "1"}[takes]
	require.NoError(t, rdb.ConfigSet(t.Context(), "min-replicas-to-write", replicas).Err())
}

func TestReadsAreAnsweredWhenTheStoreCameBackAndRefusesWrites(t *testing.T) {
	for name, fresh := range map[string]bool{"a process that observed the room": false,
		"a process that did not": true} {
		t.Run(name, func(t *testing.T) {
			store := redistest.StartWith(t,
				redistest.Config{Args: []string{"--appendonly", "yes", "--appendfsync", "always"}})
			rdb := store.Client()
			e := room.New(rdb, room.Config{Recovery: 200 * time.Millisecond})
			a := newSeller(t, e, "a")
			a.join()
			store.Restart()
			testproc.Until(t, time.Minute, func() error { return rdb.Ping(t.Context()).Err() })
			takesWrites(t, rdb, false)
			if fresh {
				a.engine = room.New(rdb, room.Config{Recovery: 200 * time.Millisecond})
			}
			require.Equal(t, room.Locked, a.stand().Status)
			_, err := a.engine.Snapshot(t.Context(), integration)
			require.NoError(t, err)
			takesWrites(t, rdb, true)
			require.Equal(t, room.Locked, a.stand().Status)
		})
	}
}

func TestALeaseThatIsOverIsReturnedAsEndedWhileTheStoreRefusesWrites(t *testing.T) {
	rdb := redistest.Start(t).Client()
	e := room.New(rdb, room.Config{Required: true})
	a := newSeller(t, e, "a")
	a.join()
	shown, unmatched := sms("shown", 0, 0), sms("unmatched", 0, 0)
	shown.Keep, unmatched.Keep = true, true
	require.Equal(t, room.NotExpected, match(t, e, unmatched).Reason)
	a.expect()
	require.Equal(t, room.Matched, match(t, e, shown).Result)
	require.NoError(t, e.SettleMatch(t.Context(), integration, "shown", 0, true))
	require.NotEmpty(t, messages(t, e, a.session))
	now, err := rdb.Time(t.Context()).Result()
	require.NoError(t, err)
	redistest.SetState(t, rdb, "integration", "expires", now.UnixMilli()+30)
	takesWrites(t, rdb, false)
	testproc.Until(t, time.Minute, func() error {
		if a.stand().Status != room.Ended {
			return room.ErrLockHeld
		}
		return nil
	})
	type reads struct {
		messages []room.Message
		recent   []room.RecentMessage
		glance   room.Glance
	}
	ask := func() (got reads) {
		got.messages = messages(t, e, a.session)
		got.recent, err = e.RecentMessages(t.Context(), integration)
		require.NoError(t, err)
		got.glance, err = e.Glance(t.Context(), integration)
		require.NoError(t, err)
		got.glance.View = room.View{}
		roster, err := e.Roster(t.Context(), integration)
		require.NoError(t, err)
		require.Empty(t, roster.Holder, "the lease is over")
		return got
	}
	again := ask()
	takesWrites(t, rdb, true)
	after := ask()
	require.Len(t, after.messages, 1)
	require.Len(t, after.recent, 1)
	require.Len(t, after.recent[0].Could, 1, "it was live then")
	require.Equal(t, 1, after.glance.Expired)
	require.Equal(t, after, again)
}
