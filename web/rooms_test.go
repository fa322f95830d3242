package web

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestRoomsAreThoseListedAndThoseWithAPrefix(t *testing.T) {
	_, err := ParseRooms("lock,locks:*,a:lock:1")
	require.NoError(t, err, "only what begins with lock: is the library's")
	rooms, err := ParseRooms(" stock:*, integration,a:b:* ,lobby")
	require.NoError(t, err)
	for _, id := range []room.ID{"stock:1", "stock:item:1", "integration", "lobby", "a:b:c"} {
		require.True(t, rooms.Has(id), id)
	}
	for _, id := range []room.ID{"stock", "stock2:1", "integrations", "a:b", "a:bc", "lobby:1"} {
		require.False(t, rooms.Has(id), id)
	}
	first, ok := rooms.Default()
	require.True(t, ok)
	require.Equal(t, room.ID("integration"), first)
	require.Equal(t, "integration, lobby, stock:*, a:b:*", rooms.String())
}

func TestListOfRoomsIsChecked(t *testing.T) {
	for _, list := range []string{"", ",", "A", "*", "a*", "support", "integration,support",
		"lock:stock:item:456", "lock:*", "lock:a:*"} {
		_, err := ParseRooms(list)
		require.ErrorIs(t, err, room.ErrInvalidRoom, list)
	}
}
