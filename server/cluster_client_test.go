package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

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
