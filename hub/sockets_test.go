package hub_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/origin"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

func TestEverySocketOfASessionGetsItsState(t *testing.T) {
	rdb := redistest.Start(t).Client()
	one, two := start(t, rdb, room.Config{}, hub.Config{}), start(t, rdb, room.Config{}, hub.Config{})
	id := room.NewSession()
	tabs := []*socket{one.dial(id), one.dial(id), two.dial(id)}
	join(t, one.Engine, id)
	for _, tab := range tabs {
		tab.untilStatus(room.Locked)
	}
	leave(t, two.Engine, id, room.Cancelled)
	for _, tab := range tabs {
		tab.untilOutcome(room.Cancelled)
	}
	again := two.dial(id)
	require.Equal(t, "ended", again.until("the first state", func(state) bool { return true }).Status)
	join(t, two.Engine, id)
	for _, tab := range append(tabs, again) {
		tab.until("the second place", func(st state) bool { return st.Status == "locked" && *st.Ticket == 2 })
	}
}

// The seller's own join is the first call after its lease is over: one event ends the session's place, gives
// it another one, and grants it the lock.
func TestOneEventMayEndAPlaceAndGrantTheNextToTheSameSession(t *testing.T) {
	rdb := redistest.StartWith(t, redistest.Config{Args: []string{"--rename-command", "CONFIG", ""}}).Client()
	r := start(t, rdb, room.Config{LookEvery: time.Minute}, hub.Config{Beat: time.Minute})
	id := room.NewSession()
	socket := r.dial(id)
	join(t, r.Engine, id)
	socket.untilStatus(room.Locked)
	require.NoError(t, rdb.Del(t.Context(), room.LockKey(lobby)).Err())
	join(t, r.Engine, id)
	socket.until("the second lease", func(st state) bool { return st.Status == "locked" && *st.Ticket == 2 })
}

func TestPausedRoomHasNoWaits(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	ids := sessions(2)
	a, b := r.dial(ids[0]), r.dial("")
	_, err := r.Engine.Pause(context.Background(), lobby, "", true, room.Action{})
	require.NoError(t, err)
	join(t, r.Engine, ids[0])
	st := a.untilStatus(room.Waiting)
	require.True(t, st.Paused)
	require.Nil(t, st.EstimatedWait)
	require.Nil(t, st.MaximumWait)
	require.Equal(t, int64(1), *st.QueuePosition)
	st = b.until("one waits", func(st state) bool { return st.QueueLength == 1 })
	require.Nil(t, st.EstimatedWait)
	_, err = r.Engine.Pause(context.Background(), lobby, "", false, room.Action{})
	require.NoError(t, err)
	a.untilStatus(room.Locked)
}

// shop returns the configuration of another site whose pages may open sockets.
func shop(t *testing.T) origin.Sites {
	t.Helper()
	sites, err := origin.New("", []string{"https://shop.example"})
	require.NoError(t, err)
	return sites
}

func TestOriginIsChecked(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Origins: shop(t)})
	own := "http" + strings.TrimPrefix(r.URL, "ws")
	for name, c := range map[string]struct {
		header http.Header
		ok     bool
	}{
		"no origin, no cookie":  {http.Header{}, true},
		"own origin":            {http.Header{"Origin": {own}}, true},
		"own origin and cookie": {http.Header{"Origin": {own}, "Cookie": {"a=b"}}, true},
		"allowed origin":        {http.Header{"Origin": {"https://shop.example"}}, true},
		"allowed host, no TLS":  {http.Header{"Origin": {"http://shop.example"}}, false},
		"own host, and a user": {http.Header{"Origin": {strings.Replace(own, "://", "://evil@", 1)}},
			false},
		"other origin":            {http.Header{"Origin": {"https://evil.example"}}, false},
		"opaque origin":           {http.Header{"Origin": {"null"}}, false},
		"two origins":             {http.Header{"Origin": {own, own}}, false},
		"cookie without origin":   {http.Header{"Cookie": {"a=b"}}, false},
		"allowed host as a label": {http.Header{"Origin": {"https://shop.example.evil.example"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), within)
			defer cancel()
			ws, res, err := websocket.Dial(ctx, r.URL+"/integration",
				&websocket.DialOptions{HTTPHeader: c.header})
			if c.ok {
				require.NoError(t, err)
				require.NoError(t, ws.CloseNow())
				return
			}
			require.Error(t, err)
			require.Equal(t, http.StatusTeapot, res.StatusCode)
		})
	}
}

func TestWhatIsNoUpgradeIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	const key = "AAAAAAAAAAAAAAAAAAAAAA=="
	whole := map[string]string{"Connection": "keep-alive, Upgrade", "Upgrade": "websocket",
		"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key}
	for name, header := range whole {
		for _, wrong := range []string{"", "wrong"} {
			req, err := http.NewRequest(http.MethodGet, "http"+strings.TrimPrefix(r.URL, "ws")+"/integration",
				nil)
			require.NoError(t, err)
			for n, v := range whole {
				req.Header.Set(n, v)
			}
			req.Header.Del(name)
			if wrong != "" {
				req.Header.Set(name, wrong)
			}
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusTeapot, res.StatusCode, "%s %q instead of %q", name, wrong, header)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestOnlyPongsAreTakenFromClients(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	const text, binary = websocket.MessageText, websocket.MessageBinary
	for name, c := range map[string]struct {
		typ  websocket.MessageType
		data string
		code int
	}{
		"join":               {text, `{"type":"join"}`, 4500},
		"empty":              {text, ``, 4500},
		"not JSON":           {text, `pong`, 4500},
		"a list":             {text, `["pong"]`, 4500},
		"two values":         {text, `{"type":"pong"}{"type":"pong"}`, 4500},
		"binary pong":        {binary, `{"type":"pong"}`, 4500},
		"binary, not UTF-8":  {binary, "\xff", 4500},
		"not UTF-8":          {text, "{\"type\":\"pong\",\"x\":\"\xff\"}", 1007},
		"long and not UTF-8": {text, strings.Repeat("x", 1000) + "\xc3", 1007},
		"4 KiB":              {text, strings.Repeat("x", 4096), 4500},
		"over 4 KiB":         {text, strings.Repeat("x", 4097), 1009},
		"far over 4 KiB":     {text, strings.Repeat("x", 300_000), 1009},
	} {
		t.Run(name, func(t *testing.T) {
			r := *r
			r.t = t
			s := r.dial("")
			s.untilStatus(room.Idle)
			s.send(text, `{"type":"pong"}`)
			s.send(text, ` { "type" : "pong" } `)
			_ = s.ws.Write(context.Background(), c.typ, []byte(c.data)) // may be cut off half way
			require.Equal(t, c.code, s.untilClosed(), "%v", s.closed)
		})
	}
}

func TestSocketsArePingedAndTheSilentClosed(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{PingEvery: 2 * time.Second})
	silent, answering := r.dial(""), r.dial("")
	answered := 0
	for answered < 3 {
		f := answering.untilOther(answered + 1)
		require.Equal(t, "ping", f["type"])
		require.InDelta(t, time.Now().UnixMilli(), f["server_time"], 60_000)
		answering.send(websocket.MessageText, `{"type":"pong"}`)
		answered++
	}
	silent.untilClosed()
	answering.mu.Lock()
	n := len(answering.others)
	answering.mu.Unlock()
	require.NotEmpty(t, answering.untilOther(n+1), "the one that answers stays")
}

func TestDrainClosesEverySocketAndTakesNoMore(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{},
		hub.Config{DrainSpread: 50 * time.Millisecond, CloseGrace: 100 * time.Millisecond})
	var all []*socket
	for range 20 {
		all = append(all, r.dial(room.NewSession()))
	}
	all = append(all, r.dial(""))
	// One that never reads does not hold up the drain.
	deaf, _, err := websocket.Dial(context.Background(), r.URL+"/integration", nil)
	require.NoError(t, err)
	defer func() { _ = deaf.CloseNow() }()
	for _, s := range all {
		s.untilStatus(room.Idle)
	}
	require.NoError(t, r.Hub.Drain(t.Context()))
	for _, s := range all {
		require.Equal(t, 4001, s.untilClosed())
	}
	_, res, err := websocket.Dial(context.Background(), r.URL+"/integration", nil)
	require.Error(t, err)
	require.Equal(t, http.StatusTeapot, res.StatusCode)
}

func TestFirstBytesBehindTheHandshakeAreRead(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	conn := rawDial(t, r, 0, "\x81\x84\x00\x00\x00\x00oops")
	require.Equal(t, 4500, rawClose(t, conn))
}

func TestSocketIsCountedUntilItIsGone(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Registerer: registry})
	until := func(want float64) {
		t.Helper()
		testproc.Until(t, within, func() error {
			families, err := registry.Gather()
			if err != nil {
				return err
			}
			for _, f := range families {
				if n := f.GetMetric()[0].GetGauge().GetValue(); f.GetName() == "waitroom_hub_sockets" &&
					n != want {
					return fmt.Errorf("%v sockets", n)
				}
			}
			return nil
		})
	}
	one, two := r.dial(room.NewSession()), r.dial("")
	until(2)
	require.NoError(t, one.ws.CloseNow())
	until(1)
	require.NoError(t, two.ws.CloseNow())
	until(0)
}
