package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// dial opens a socket of the session; headers are name, value, name, value …
func dial(t *testing.T, base string, headers ...string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	header := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	conn, resp, err := websocket.Dial(ctx, base+"/api/integration/ws",
		&websocket.DialOptions{HTTPHeader: header, HTTPClient: newHTTP(t)})
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, resp, err
}

// open is dial for a socket that has to open.
func open(t *testing.T, base string, headers ...string) *websocket.Conn {
	t.Helper()
	conn, _, err := dial(t, base, headers...)
	require.NoError(t, err)
	return conn
}

// next returns the next frame of a socket.
func next(t *testing.T, conn *websocket.Conn) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, text, err := conn.Read(ctx)
	require.NoError(t, err)
	var frame map[string]any
	require.NoError(t, json.Unmarshal(text, &frame))
	return frame
}

// until reads frames until one has a status.
func until(t *testing.T, conn *websocket.Conn, status string) map[string]any {
	t.Helper()
	for {
		if frame := next(t, conn); frame["type"] == "state" && frame["status"] == status {
			return frame
		}
	}
}

// closing reads until the socket is closed and returns the code.
func closing(t *testing.T, conn *websocket.Conn) websocket.StatusCode {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, _, err := conn.Read(ctx); err != nil {
			require.NoError(t, ctx.Err(), "the socket stays open")
			return websocket.CloseStatus(err)
		}
	}
}

func TestSocketSendsTheSessionItsTurn(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := start(t, config(t, "--redis-url", store))
		a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
		a.join()
		joined := b.join()
		byHeader := open(t, r.URL(), "X-Session-ID", b.session)
		byCookie := open(t, r.URL(), "Cookie", "waitroom_session="+b.session, "Origin", r.URL())
		spectator := open(t, r.URL())
		for _, conn := range []*websocket.Conn{byHeader, byCookie} {
			first := next(t, conn)
			require.Equal(t, "waiting", first["status"])
			require.EqualValues(t, joined.number("version"), first["version"], "the answer and the socket agree")
		}
		require.Equal(t, "idle", next(t, spectator)["status"])
		a.leave("?reason=completed")
		for _, conn := range []*websocket.Conn{byHeader, byCookie} {
			require.NotNil(t, until(t, conn, "locked")["fence"])
		}
	})
}

func TestSocketIsRefusedByName(t *testing.T) {
	r := start(t, config(t, "--allowed-origins", "https://portal.example"))
	good := room.NewSession()
	for _, tc := range []struct {
		name    string
		headers []string
		status  int
		code    string
	}{
		{"another site's page", []string{"Origin", "https://evil.example"}, 403, "cross_site"},
		{"a page without a site", []string{"Origin", "null"}, 403, "cross_site"},
		{"a cookie without an origin", []string{"Cookie", "waitroom_session=" + good}, 403, "cross_site"},
		{"a session that is none", []string{"X-Session-ID", "me"}, 400, "invalid_session"},
		{"a cookie that is none", []string{"Cookie", "waitroom_session=me", "Origin", r.URL()}, 400,
			"invalid_session"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, resp, err := dial(t, r.URL(), tc.headers...)
			require.Error(t, err)
			require.Equal(t, tc.status, resp.StatusCode)
			body := make([]byte, 1024)
			n, _ := resp.Body.Read(body)
			require.Contains(t, string(body[:n]), `"code":"`+tc.code+`"`)
		})
	}
	_, _, err := dial(t, r.URL(), "Origin", "https://portal.example")
	require.NoError(t, err)
	got := newSeller(t, r.URL(), "").ask("GET", "/api/integration/ws", "")
	requireProblem(t, got, http.StatusUpgradeRequired, "upgrade_required")
	require.Equal(t, "websocket", got.Header.Get("Upgrade"))
}

func TestSocketTakesPongsAndNothingElse(t *testing.T) {
	r := start(t, config(t))
	a := newSeller(t, r.URL(), "a")
	version := a.join().number("version")
	for _, tc := range []struct {
		name string
		kind websocket.MessageType
		data string
		code websocket.StatusCode
	}{
		{"an action", websocket.MessageText, `{"type":"leave"}`, 4500},
		{"no JSON", websocket.MessageText, `hello`, 4500},
		{"nothing", websocket.MessageText, ``, 4500},
		{"bytes", websocket.MessageBinary, `{"type":"pong"}`, 4500},
		{"over 4 KiB", websocket.MessageText, strings.Repeat("x", 4<<10+1), websocket.StatusMessageTooBig},
		{"not UTF-8", websocket.MessageText, "\xff\xfe", websocket.StatusInvalidFramePayloadData},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conn := open(t, r.URL(), "X-Session-ID", a.session)
			require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"pong"}`)))
			require.Equal(t, "locked", next(t, conn)["status"])
			require.NoError(t, conn.Write(t.Context(), tc.kind, []byte(tc.data)))
			require.Equal(t, tc.code, closing(t, conn))
		})
	}
	require.Equal(t, version, a.status().number("version"))
}
