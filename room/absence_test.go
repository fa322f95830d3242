package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// The Redis client sends a call again by itself. Before that, another replica may have begun the room, and
// Redis may have lost it.
func TestRoomThatWasBegunAndLostSinceTheCallAskedIsNotBegunByIt(t *testing.T) {
	emptied := func(l *losing) { require.NoError(t, l.rdb.FlushAll(t.Context()).Err()) }
	for name, test := range map[string]struct {
		known room.Recorded // what the ledger has
		lose  func(*losing)
	}{
		"the store is emptied": {lose: emptied},
		"the store is emptied while the record's word is on its way": {room.Recorded{Fence: 5, Ticket: 3},
			emptied},
		"a failover loses the last writes": {lose: func(l *losing) {
			keys, err := l.rdb.Keys(t.Context(), "{integration}:*").Result()
			require.NoError(t, err)
			require.NoError(t, l.rdb.Del(t.Context(), keys...).Err())
			require.NoError(t, l.rdb.Set(t.Context(), "{integration}:blank", l.token, time.Minute).Err())
			require.NoError(t, l.rdb.Do(t.Context(), "DEBUG", "CHANGE-REPL-ID").Err())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLosing(t, room.Config{})
			other := l.server.Client()
			late := room.New(other, room.Config{Recovery: time.Hour,
				Recorded: func(_ context.Context, id room.ID) (known room.Recorded, _ error) {
					if id == integration {
						known = test.known
					}
					return known, nil
				}})
			// this call loads the Lua library, so that the next Join need not
			_, err := late.Join(t.Context(), "other", room.JoinRequest{Session: room.NewSession()})
			require.NoError(t, err)
			way := &heldBack{}
			other.AddHook(way)
			registers, asks := func() {}, func() {}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begins := func() {
				l.token = l.rdb.Get(t.Context(), "{integration}:blank").Val()
				require.Equal(t, room.Locked, l.seller(l.one, "a").join().Status)
				test.lose(l)
				time.AfterFunc(300*time.Millisecond, cancel) // enough time for a call that begins the room
			}
			way.inTurn(registers, asks, registers, begins)
			_, err = late.Join(ctx, integration, room.JoinRequest{Session: room.NewSession(), Seller: "b"})
			require.ErrorIs(t, err, context.Canceled, "its holder may still be replayed")
			require.NotEmpty(t, l.token, "it was about to begin the room")
			require.Zero(t, l.rdb.Exists(t.Context(), "{integration}:state").Val())
		})
	}
}
