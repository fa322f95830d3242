package hub_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
)

func TestAMessageGoesToItsHolderOnceOnEachSocket(t *testing.T) {
	rdb := redistest.Start(t).Client()
	keys := room.Config{Keys: seal.NewKeyring([]byte("one secret of all replicas"))}
	one, two := start(t, rdb, keys, hub.Config{}), start(t, rdb, keys, hub.Config{})
	ids := sessions(2)
	holder, next := one.dial(ids[0]), one.dial(ids[1])
	join(t, one.Engine, ids[0])
	join(t, one.Engine, ids[1])
	holder.untilStatus(room.Locked)

	code := "482913"
	match := func(id string, keep bool) room.Match {
		m, err := two.Engine.Match(t.Context(), lobby, room.MatchRequest{MessageID: id, Keep: keep,
			Shown: room.Message{Text: id + " 인증번호 482913", Code: &code}})
		require.NoError(t, err)
		require.NoError(t, two.Engine.SettleMatch(t.Context(), lobby, id, 0, true))
		return m
	}
	at := match("first", true).At
	require.Equal(t, map[string]any{"type": "sms", "message_id": "first", "text": "first 인증번호 482913",
		"code": "482913", "received_at": float64(at),
		"late": false}, holder.untilOther(1))
	match("second", false)
	require.Equal(t, "second 인증번호 482913", holder.untilOther(2)["text"])
	holder.untilOutcome(room.Completed)
	next.untilStatus(room.Locked)

	reload := two.dial(ids[0])
	texts := []any{reload.untilOther(1)["text"], reload.untilOther(2)["text"]}
	require.ElementsMatch(t, []any{"first 인증번호 482913", "second 인증번호 482913"}, texts)
	reload.mu.Lock()
	require.Contains(t, reload.raw[0], `"type":"state"`, "the first frame is a state")
	reload.mu.Unlock()

	leave(t, one.Engine, ids[1], room.Completed)
	next.untilOutcome(room.Completed)
	require.Len(t, holder.others, 2)
	require.Len(t, reload.others, 2)
	require.Empty(t, next.others)
}

func TestNextTurnsSocketIsNotSentTheLastTurnsMessage(t *testing.T) {
	rdb := redistest.Start(t).Client()
	r := start(t, rdb, room.Config{}, hub.Config{})
	id := room.NewSession()
	first := r.dial(id)
	lease := join(t, r.Engine, id).Lease
	first.untilStatus(room.Locked)
	text := func(message string) {
		_, err := r.Engine.Match(t.Context(), lobby,
			room.MatchRequest{MessageID: message, From: lease.GrantedAt, To: lease.GrantedAt + 1,
				Shown: room.Message{Text: message, Code: new("482913")}})
		require.NoError(t, err)
		require.NoError(t, r.Engine.SettleMatch(t.Context(), lobby, message, 0, true))
	}
	text("first turn")
	require.Equal(t, "first turn", first.untilOther(1)["text"])
	first.untilOutcome(room.Completed)

	lease = join(t, r.Engine, id).Lease
	first.until("the second turn", func(st state) bool { return st.Status == "locked" && *st.Ticket == 2 })
	again := r.dial(id)
	again.untilStatus(room.Locked)
	text("second turn")
	require.Equal(t, "second turn", again.untilOther(1)["text"],
		"the first message a socket of this turn gets")
}

// The ledger was away when the message was shown, and refuses the match afterwards.
func TestWithdrawnMessageIsSentToNoFurtherSocket(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	id := room.NewSession()
	first := r.dial(id)
	lease := join(t, r.Engine, id).Lease
	first.untilStatus(room.Locked)
	settle := func(message string, agreed bool) {
		require.NoError(t, r.Engine.SettleMatch(t.Context(), lobby, message, 0, agreed))
	}
	text := func(message string) {
		_, err := r.Engine.Match(t.Context(), lobby,
			room.MatchRequest{MessageID: message, From: lease.GrantedAt, To: lease.GrantedAt + 1,
				Keep: true, Shown: room.Message{Text: message, Code: new("482913")}})
		require.NoError(t, err)
		settle(message, true)
	}
	text("refused later")
	require.Equal(t, "refused later", first.untilOther(1)["text"])
	settle("refused later", false)
	text("agreed")
	require.Equal(t, "agreed", first.untilOther(2)["text"])
	require.Equal(t, "agreed", r.dial(id).untilOther(1)["text"])
}

// The session has a socket here already, and the event of the rejection is late.
func TestSocketOpenedAfterARejectionIsNotSentTheRejectedMessage(t *testing.T) {
	server := redistest.Start(t)
	keys := room.Config{Keys: seal.NewKeyring([]byte("one secret of all replicas"))}
	proxy, elsewhere := server.Proxy(), room.New(server.Client(), keys)
	r := start(t, splitClient{server.Client(), proxy.Client()}, keys, hub.Config{Unnotified: true})
	id := room.NewSession()
	first := r.dial(id)
	lease := join(t, elsewhere, id).Lease
	first.untilStatus(room.Locked)
	text := func(message string) {
		_, err := elsewhere.Match(t.Context(), lobby,
			room.MatchRequest{MessageID: message, From: lease.GrantedAt, To: lease.GrantedAt + 1, Keep: true,
				Shown: room.Message{Text: message, Code: new("482913")}})
		require.NoError(t, err)
		require.NoError(t, elsewhere.SettleMatch(t.Context(), lobby, message, 0, true))
	}
	text("kept")
	text("rejected")
	first.untilOther(2)
	proxy.Blackhole(redistest.ToClient)
	defer proxy.Heal()
	require.NoError(t, elsewhere.Reject(t.Context(), lobby, id, lease.Fence, "rejected"))
	second := r.dial(id)
	require.Equal(t, "kept", second.untilOther(1)["text"])
	text("next")
	third := r.dial(id)
	require.Equal(t, "kept", third.untilOther(1)["text"])
	require.Equal(t, "next", third.untilOther(2)["text"])
}
