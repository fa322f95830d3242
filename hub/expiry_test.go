package hub_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// servers are the configurations of Redis to test: one sends keyspace notifications, the other refuses CONFIG
// SET.
var servers = map[string]redistest.Config{
	"with notifications":    {},
	"without notifications": {Args: []string{"--rename-command", "CONFIG", ""}},
}

func TestALeaseThatRunsOutIsHandedToTheNext(t *testing.T) {
	t.Parallel()
	for name, c := range servers {
		t.Run(name, func(t *testing.T) {
			r := start(t, redistest.StartWith(t, c).Client(), room.Config{Lease: 300 * time.Millisecond},
				hub.Config{})
			ids := sessions(3)
			a, b, d := r.dial(ids[0]), r.dial(ids[1]), r.dial(ids[2])
			for _, id := range ids {
				join(t, r.Engine, id)
			}
			require.Equal(t, int64(1), *a.untilOutcome(room.Expired).Ticket)
			b.untilOutcome(room.Expired)
			d.untilOutcome(room.Expired)
		})
	}
}

// Only the replica's own timer can act here: there is no sweep, no notification and no heartbeat.
func TestTheTimerAloneEndsALease(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.StartWith(t, servers["without notifications"]).Client(),
		room.Config{Lease: 300 * time.Millisecond}, hub.Config{Beat: time.Hour})
	ids := sessions(2)
	watcher := r.dial("")
	join(t, r.Engine, ids[0])
	join(t, r.Engine, ids[1])
	// version 3, since the second seller may have joined after the first lease's end
	watcher.until("all over", func(st state) bool {
		return st.Version >= 3 && st.QueueLength == 0 &&
			st.LeaseExpiresAt == nil
	})
}

func TestALockDeletedByHandGoesToTheNext(t *testing.T) {
	for name, c := range servers {
		t.Run(name, func(t *testing.T) {
			rdb := redistest.StartWith(t, c).Client()
			beat := time.Hour // only the notification comes in time
			if len(c.Args) > 0 {
				beat = 50 * time.Millisecond
			}
			r := start(t, rdb, room.Config{}, hub.Config{Beat: beat})
			if len(c.Args) == 0 {
				untilNotifying(t, r)
			}
			ids := sessions(2)
			a, b := r.dial(ids[0]), r.dial(ids[1])
			join(t, r.Engine, ids[0])
			join(t, r.Engine, ids[1])
			b.untilStatus(room.Waiting)
			untilSubscribed(t, r, "__keyspace@0__:"+room.LockKey(lobby), len(c.Args) == 0)
			require.NoError(t, rdb.Del(t.Context(), room.LockKey(lobby)).Err())
			a.untilOutcome(room.Forced)
			b.untilStatus(room.Locked)
		})
	}
}

// untilNotifying waits until the hub has turned Redis's keyspace notifications on.
func untilNotifying(t testing.TB, r *replica) {
	testproc.Until(t, within, func() error {
		m, err := r.Redis.ConfigGet(context.Background(), "notify-keyspace-events").Result()
		if err == nil && m["notify-keyspace-events"] == "" {
			err = errors.New("off")
		}
		return err
	})
}

func untilSubscribed(t testing.TB, r *replica, channel string, wanted bool) {
	if !wanted {
		return
	}
	testproc.Until(t, within, func() error {
		m, err := r.Redis.PubSubNumSub(context.Background(), channel).Result()
		if err == nil && m[channel] == 0 {
			err = errors.New("nobody has subscribed to " + channel)
		}
		return err
	})
}
