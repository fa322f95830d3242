package hub_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

func TestHandoffsAreSentOnTheEmbeddedStore(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	// this server sends no notifications; the sweep would notice the deletion later
	requireHandoffs(t, rdb, func(e *room.Engine, id room.ID) {
		_, err := e.Expire(t.Context(), id)
		require.NoError(t, err)
	})
}

// requireHandoffs ends leases and deletes a lock key in rooms of many slots, and calls deleted after the
// latter.
func requireHandoffs(t *testing.T, rdb redis.UniversalClient, deleted func(*room.Engine, room.ID)) {
	r := start(t, rdb, room.Config{Lease: 10 * time.Minute}, hub.Config{})
	for i := range 6 {
		id := room.ID(fmt.Sprint("room:", i))
		who := sessions(3)
		var sockets []*socket
		for j, session := range who {
			sockets = append(sockets, r.dialRoom(id, session))
			_, err := r.Engine.Join(t.Context(), id,
				room.JoinRequest{Session: session, Seller: fmt.Sprint("s", j)})
			require.NoError(t, err)
		}
		sockets[0].untilStatus(room.Locked)
		sockets[2].untilPosition(2)
		_, err := r.Engine.Leave(t.Context(), id, room.LeaveRequest{Session: who[0], Outcome: room.Completed})
		require.NoError(t, err)
		sockets[1].untilStatus(room.Locked)
		require.NoError(t, r.Redis.Del(t.Context(), room.LockKey(id)).Err())
		deleted(r.Engine, id)
		sockets[1].untilOutcome(room.Forced)
		sockets[2].untilStatus(room.Locked)
	}
}

// Over TLS the socket cannot try a write without blocking, so every write takes the slower way.
func TestSocketsWorkOverTLS(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		require.NoError(t, r.Hub.ServeSocket(w, req, lobby, "", ""))
	}))
	defer server.Close()
	client := server.Client()
	defer client.CloseIdleConnections()
	ws, _, err := websocket.Dial(t.Context(), "wss"+strings.TrimPrefix(server.URL, "https"),
		&websocket.DialOptions{HTTPClient: client})
	require.NoError(t, err)
	defer func() { _ = ws.CloseNow() }()
	_, text, err := ws.Read(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(text), `"status":"idle"`)
	require.NoError(t, ws.Close(websocket.StatusNormalClosure, ""))
}

func TestARoomWithoutSocketsIsLetGoAndFollowedAgain(t *testing.T) {
	rdb := redistest.Start(t).Client()
	r := start(t, rdb, room.Config{}, hub.Config{Linger: 40 * time.Millisecond})
	id := room.NewSession()
	subscribed := func(want int64) {
		testproc.Until(t, within, func() error {
			n, err := rdb.PubSubNumSub(context.Background(), room.Channel(lobby)).Result()
			if err == nil && n[room.Channel(lobby)] != want {
				err = fmt.Errorf("%d subscriptions", n[room.Channel(lobby)])
			}
			return err
		})
	}
	for range 3 {
		s := r.dial(id)
		s.untilStatus(room.Idle)
		subscribed(1)
		require.NoError(t, s.ws.Close(websocket.StatusNormalClosure, ""))
		subscribed(0)
	}
	join(t, r.Engine, id)
	r.dial(id).untilStatus(room.Locked)
}
