package hub_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/redistest"
	"github.com/waitroom/waitroom/room"
)

// Whose place it was may be back in line between the look that found the place and the socket's opening; here both browsers are connected.
func TestSocketThatOpensForAPlaceThatIsAnotherByThenIsClosedAtOnce(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	ids := sessions(2)
	owner := r.dial(ids[0])
	before := join(t, r.Engine, ids[0])
	leave(t, r.Engine, ids[0], room.Completed)
	owner.untilStatus(room.Ended)
	after := join(t, r.Engine, ids[0])
	owner.until("the other place", func(st state) bool { return st.Ticket != nil && *st.Ticket == after.Ticket })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_ = r.Hub.ServeLinked(w, req, lobby, hub.Link{Session: ids[0], Ticket: before.Ticket, Fence: before.Fence, Own: ids[1]})
	}))
	defer server.Close()
	ws, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	require.NoError(t, err)
	defer func() { _ = ws.CloseNow() }()
	_, text, err := ws.Read(t.Context())
	require.Empty(t, text, "nothing of the other place")
	require.EqualValues(t, 4003, websocket.CloseStatus(err))
}
