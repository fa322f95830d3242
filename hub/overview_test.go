package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/desk/desktest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

func joinRoom(t testing.TB, e *room.Engine, id room.ID, session, seller string) room.Standing {
	t.Helper()
	st, err := e.Join(context.Background(), id, room.JoinRequest{Session: session, Seller: seller})
	require.NoError(t, err)
	return st
}

func row(id room.ID, so func(map[string]any) bool) func(*desktest.Page) bool {
	return func(p *desktest.Page) bool { return p.Rooms[string(id)] != nil && so(p.Rooms[string(id)]) }
}

func TestSupportSeesAllRooms(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	direct := room.New(server.Client(), room.Config{})
	cfg := hub.Config{Desk: desk.Settings{Named: []room.ID{lobby},
		Rooms: func(id room.ID) bool { return id == lobby || len(id) == 5 && id[:4] == "shop" }}}
	r := start(t, proxy.Client(), room.Config{}, cfg)
	who := sessions(4)
	first := joinRoom(t, direct, "shop1", who[0], "김")
	joinRoom(t, direct, "shop1", who[1], "이")
	joinRoom(t, direct, "other", who[1], "이")
	s := r.watch("")
	s.until("the rooms in use, and the named",
		func(p *desktest.Page) bool { return len(p.Rooms) == 2 && p.Rooms[string(lobby)] != nil })
	s.until("the room", row("shop1", func(r map[string]any) bool {
		return r["holder"] == "김" && r["waiting"] == 1.0 && r["away"] == 0.0 &&
			r["expires_at"] == float64(first.Lease.ExpiresAt) &&
			r["oldest"].(float64) > 1e12 && r["handoffs"] == 1.0 && r["paused"] == false &&
			len(r["trouble"].([]any)) == 0
	}))
	require.Contains(t, s.frames()[0], `{"type":"rooms","reset":true,"server_time":`)

	joinRoom(t, direct, "shop2", who[2], "박")
	s.until("a room that appears later", row("shop2",
		func(r map[string]any) bool { return r["holder"] == "박" }))
	_, err := direct.Leave(t.Context(), "shop1", room.LeaveRequest{Session: who[0], Outcome: room.Completed})
	require.NoError(t, err)
	s.until("the handoff", row("shop1", func(r map[string]any) bool {
		return r["holder"] == "이" && r["waiting"] == 0.0 && r["oldest"] == 0.0 && r["handoffs"] == 2.0
	}))
	_, err = direct.Pause(t.Context(), lobby, "", true, room.Action{})
	require.NoError(t, err)
	s.until("the pause", row(lobby,
		func(r map[string]any) bool { return fmt.Sprint(r["trouble"]) == "[paused]" && r["holder"] == nil }))

	proxy.Refuse()
	proxy.CutAll()
	joinRoom(t, direct, "shop3", who[3], "최")
	_, err = direct.Leave(t.Context(), "shop2", room.LeaveRequest{Session: who[2], Outcome: room.Completed})
	require.NoError(t, err)
	proxy.Heal()
	s.until("what happened meanwhile", func(p *desktest.Page) bool {
		return row("shop3", func(r map[string]any) bool { return r["holder"] == "최" })(p) &&
			row("shop2", func(r map[string]any) bool { return r["holder"] == nil })(p)
	})
	require.False(t, s.shows(func(p *desktest.Page) bool { return p.Rooms["other"] != nil }),
		"not one of this server's")
	for _, text := range s.frames() {
		for _, id := range who {
			require.NotContains(t, text, id)
		}
	}
}

func TestRoomThatFellAsleepIsTakenOffUnlessItIsNamed(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client()
	r := start(t, rdb, room.Config{}, hub.Config{Desk: desk.Settings{Named: []room.ID{lobby}}})
	for _, id := range []room.ID{lobby, "asleep", "used"} {
		joinRoom(t, r.Engine, id, room.NewSession(), "s")
	}
	s := r.watch("")
	s.until("all", func(p *desktest.Page) bool { return len(p.Rooms) == 3 })
	for _, key := range []string{"{waitroom}:due", "{waitroom}:registered"} {
		require.NoError(t, rdb.ZRem(t.Context(), key, "asleep", string(lobby)).Err())
	}
	require.NoError(t, rdb.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err()) // it is listed anew
	s.until("the one that sleeps is gone", func(p *desktest.Page) bool {
		return len(p.Rooms) == 2 &&
			p.Rooms["asleep"] == nil
	})
}

// A room with sellers' sockets is sent once to each subscription, and its events are applied once.
func TestAllRoomsAndOneRoomAreSentSideBySide(t *testing.T) {
	// Nothing asks the engine while the room changes, neither a beat nor a waiter's coming: an answer that is
	// ahead of its events for too long makes the hub send the room again.
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Beat: time.Hour})
	ids, began := sessions(10), time.Now()
	seller, s, all := r.dial(room.NewSession()), r.watch(lobby), r.watch("")
	all.until("the list", func(p *desktest.Page) bool { return p.Frames["rooms"] > 0 })
	s.until("the room", there)
	stir(t, r.Engine, ids, 100, func() {})
	untilSettled(t, r.Engine, lobby, seller)
	untilTrue(t, r.Engine, lobby, s)
	require.Equal(t, 1, s.count("desk"))
	g, err := r.Engine.Glance(t.Context(), lobby)
	require.NoError(t, err)
	all.until("the room", row(lobby, func(r map[string]any) bool {
		return r["waiting"] == float64(g.Waiting) && r["handoffs"] == float64(len(g.Grants))
	}))
	require.LessOrEqual(t, all.count("rooms"), 4+int(time.Since(began)/(250*time.Millisecond)), "sent as one")
}

func TestOverviewIsFollowedOnlyWhileAnAgentWatches(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client()
	r := start(t, rdb, room.Config{}, hub.Config{Linger: 50 * time.Millisecond})
	untilPatterns := func(want int64) {
		testproc.Until(t, within, func() error {
			n, err := rdb.PubSubNumPat(context.Background()).Result()
			if err == nil && n != want {
				err = fmt.Errorf("%d patterns", n)
			}
			return err
		})
	}
	for i := range 2 {
		untilPatterns(0)
		joinRoom(t, r.Engine, room.ID(fmt.Sprint("shop", i)), room.NewSession(), "s")
		s := r.watch("")
		untilPatterns(1)
		s.until("the rooms", func(p *desktest.Page) bool { return len(p.Rooms) == i+1 })
		require.NoError(t, s.ws.CloseNow())
	}
	untilPatterns(0)
}
