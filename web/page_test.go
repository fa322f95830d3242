package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

func TestPageHasTheRulesOfItsRoom(t *testing.T) {
	h := &pages{lockAPI: &lockAPI{sessions: &sessions{&base{Config: Config{AwayAfter: 15 * time.Second, DropAfter: 5 * time.Minute,
		Info: func(id room.ID, _ string) templates.RoomInfo {
			return templates.RoomInfo{Name: "the room " + string(id)}
		}}}}}}
	var v templates.RoomView
	h.addRules("shop:a", &v)
	require.Equal(t, templates.RoomView{AwaySeconds: 15, DropSeconds: 300,
		Info: templates.RoomInfo{Name: "the room shop:a"}}, v)
}

func TestRoomsOfAPrefixAreThoseThatMayBeThere(t *testing.T) {
	rooms, err := ParseRooms("integration,shop:a,mall:east:*")
	require.NoError(t, err)
	for prefix, want := range map[string]bool{"shop:": true, "mall:": true, "mall:east:": true,
		"mall:east:x:": true, "mall:west:": false, "integration:": false, "sho:": false} {
		require.Equal(t, want, rooms.Begins(prefix), prefix)
	}
}
