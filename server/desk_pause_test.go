package server

import (
	"net/http"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// pausedBy reads frames until one has the pause's author and reason; "" = not paused.
func pausedBy(t *testing.T, conn *websocket.Conn) (who, why string) {
	t.Helper()
	for {
		frame := next(t, conn)
		if frame["type"] != "pause" {
			continue
		}
		set, _ := frame["set"].([]any)
		if len(set) == 0 {
			return "", ""
		}
		pause, _ := set[0].(map[string]any)
		who, _ = pause["who"].(string)
		why, _ = pause["reason"].(string)
		return who, why
	}
}

func TestDeskNamesTheAgentThatPausedTheRoomOnEveryReplicaAndAfterARestart(t *testing.T) {
	o := openOffice(t)
	kim, lee := newAgent(t, o.a.URL(), "kim"), newAgent(t, o.b.URL(), "lee")
	watching := lee.watch("/api/support/integration/ws")
	kim.mustAct("pause", `{"reason":"the carrier is down"}`)
	who, why := pausedBy(t, watching)
	require.Equal(t, []string{"kim", "the carrier is down"}, []string{who, why},
		"at once, before the ledger has it")
	lee.mustAct("pause", `{"reason":"still"}`)
	kim.history("", func(r reply) bool { return len(r.list("actions")) == 2 })

	later := start(t, o.a.cfg)
	who, why = pausedBy(t, newAgent(t, later.URL(), "kim").watch("/api/support/integration/ws"))
	require.Equal(t, []string{"kim", "the carrier is down"}, []string{who, why},
		"the agent that paused it first, from the ledger")
	kim.mustAct("resume", `{"reason":"it is back"}`)
	who, _ = pausedBy(t, watching)
	require.Empty(t, who)
	require.Equal(t, http.StatusOK, kim.act("pause", `{"reason":"again"}`).StatusCode)
	who, why = pausedBy(t, watching)
	require.Equal(t, []string{"kim", "again"}, []string{who, why})
}
