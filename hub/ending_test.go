package hub_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
)

// order returns, in order, which of a socket's frames are an SMS, a locked or an ended state.
func (c *socket) order() (frames []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, frame := range c.raw {
		for _, kind := range []string{`"type":"sms"`, `"status":"locked"`, `"status":"ended"`} {
			if strings.Contains(frame, kind) {
				frames = append(frames, kind)
			}
		}
	}
	return frames
}

func TestHolderEndedByAMessageGetsTheMessageFirst(t *testing.T) {
	rdb := redistest.Start(t).Client()
	keys := room.Config{Keys: seal.NewKeyring([]byte("one secret of all replicas"))}
	one, two := start(t, rdb, keys, hub.Config{}), start(t, rdb, keys, hub.Config{})
	ended := func(t *testing.T, how func(t *testing.T, session string, lease *room.Lease) (message string),
		verdict bool) (holder *socket) {
		ids := sessions(2)
		holder, next := one.dial(ids[0]), two.dial(ids[1])
		lease := join(t, one.Engine, ids[0]).Lease
		join(t, one.Engine, ids[1])
		holder.untilStatus(room.Locked)
		message := how(t, ids[0], lease)
		next.untilStatus(room.Locked) // at once, whatever the ledger says
		require.NotContains(t, holder.order(), `"status":"ended"`, "it waits for the ledger's word")
		require.NoError(t, two.Engine.SettleMatch(t.Context(), lobby, message, 0, verdict))
		holder.untilOutcome(room.Completed)
		leave(t, one.Engine, ids[1], room.Completed)
		return holder
	}
	match := func(t *testing.T, message string, lease *room.Lease) {
		_, err := two.Engine.Match(t.Context(), lobby,
			room.MatchRequest{MessageID: message, From: lease.GrantedAt, To: lease.GrantedAt + 1,
				Shown: room.Message{Text: message, Code: new(message)}})
		require.NoError(t, err)
	}
	first := []string{`"status":"locked"`, `"type":"sms"`, `"status":"ended"`}
	t.Run("a message that is its own", func(t *testing.T) {
		holder := ended(t, func(t *testing.T, _ string, lease *room.Lease) string {
			match(t, "matched", lease)
			return "matched"
		}, true)
		require.Equal(t, first, holder.order())
	})
	t.Run("one that the ledger refuses", func(t *testing.T) {
		holder := ended(t, func(t *testing.T, _ string, lease *room.Lease) string {
			match(t, "refused", lease)
			return "refused"
		}, false)
		require.Equal(t, []string{`"status":"locked"`, `"status":"ended"`}, holder.order())
	})
	t.Run("one that the ledger says nothing of", func(t *testing.T) {
		ids := sessions(1)
		holder := one.dial(ids[0])
		lease := join(t, one.Engine, ids[0]).Lease
		holder.untilStatus(room.Locked)
		match(t, "silence", lease)
		holder.untilOutcome(room.Completed)
		again := two.dial(ids[0])
		again.untilOutcome(room.Completed) // a socket's first frame is how things are
		require.NoError(t, two.Engine.SettleMatch(t.Context(), lobby, "silence", 0, true))
		require.Equal(t, "silence", holder.untilOther(1)["text"])
		require.Equal(t, "silence", again.untilOther(1)["text"])
	})
}
