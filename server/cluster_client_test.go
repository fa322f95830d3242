package server

import (
	"log/slog"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// Who uses the client looks at its type: only of a *redis.ClusterClient is each master asked and heard.
func TestEnginesClientIsOfTheStoresKind(t *testing.T) {
	for text, want := range map[string]any{"redis://127.0.0.1:1/7": &redis.Client{}, "redis+sentinel://127.0.0.1:1/m?db=7": &redis.Client{}, "redis+cluster://127.0.0.1:1": &redis.ClusterClient{}} {
		u, err := ParseRedis(text)
		require.NoError(t, err)
		s, err := u.open(slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		require.IsType(t, want, s.client, text)
		if _, cluster := want.(*redis.ClusterClient); !cluster {
			require.Contains(t, room.NamesOf(s.client, "").LockNotices("r"), "@7_", text)
		}
		s.close()
	}
}

func TestRoomsOnEveryMasterOfAClusterAreFound(t *testing.T) {
	cluster := redistest.StartCluster(t)
	r := start(t, config(t, "--redis-url", cluster.URL(), "--rooms", "a,b,c,d,e,f,g,h"))
	for _, id := range r.cfg.Rooms.Names() {
		require.Equal(t, 200, newSeller(t, r.URL(), "s-1").joinRoom(string(id), "").StatusCode)
	}
	rooms, err := r.engine.Rooms(t.Context())
	require.NoError(t, err)
	require.Equal(t, r.cfg.Rooms.Names(), rooms)
}
