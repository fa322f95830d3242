package hub_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/desk/desktest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// storm makes n changes of all kinds, and calls cut in between.
func storm(t testing.TB, e *room.Engine, ids []string, n int, cut func()) {
	t.Helper()
	ctx := context.Background()
	for i := range n {
		if i%10 == 3 {
			_, err := e.Seen(ctx, lobby, time.Second, ids[:3], ids[3:6])
			require.NoError(t, err)
		}
		if i%12 == 5 {
			_, err := e.Join(ctx, lobby, room.JoinRequest{Session: ids[rand.IntN(len(ids))], Seller: "s" +
				room.NewSession()[:8], Lease: 5 * time.Millisecond})
			require.False(t, err != nil && !room.Refused(err), err)
		}
		stir(t, e, ids, 1, func() {})
		if i%50 == 25 {
			cut()
		}
	}
}

var stormy = room.Config{AwayAfter: time.Millisecond, DropAfter: 300 * time.Millisecond}

func TestSupportSeesTheLineAsItIsOnEveryReplica(t *testing.T) {
	server := redistest.Start(t)
	direct := room.New(server.Client(), stormy)
	requireTruePages(t, server, direct, 100, inTurn(cuts(t, server, direct)))
}

// requireTruePages makes n changes twice while the pages' replicas lose published events, and requires that
// all pages then show the engine's state.
func requireTruePages(t *testing.T, server *redistest.Server, direct *room.Engine, n int,
	cut func(*redistest.Proxy)) {
	proxy := server.Proxy()
	one, two := start(t, proxy.Client(), stormy, hub.Config{}), start(t, proxy.Client(), stormy, hub.Config{})
	ids := sessions(40)
	for _, id := range ids[20:] {
		one.dial(id)
	}
	screens := []*screen{one.watch(lobby), two.watch(lobby)}
	storm(t, direct, ids, n, func() { cut(proxy) })
	screens = append(screens, one.watch(lobby), two.watch(lobby))
	storm(t, direct, ids, n, func() { cut(proxy) })
	untilTrue(t, direct, lobby, screens...)
	for _, s := range screens {
		for _, text := range s.frames() {
			for _, id := range ids {
				require.NotContains(t, text, id, "a session is a credential")
			}
		}
	}
}

// The subscription stays connected and delivers nothing. The next beat's answer shows that mirror and roster
// are behind, also in a room that only support watches.
func TestSupportSeesTheTruthAlthoughTheSubscriptionIsSilent(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	silent := server.Proxy()
	r := start(t, splitClient{server.Client(), silent.Client()}, room.Config{}, hub.Config{})
	ids := sessions(5)
	s := r.watch(lobby)
	s.until("the room", there)
	silent.Blackhole(redistest.ToClient)
	stir(t, r.Engine, ids, 20, func() {})
	untilTrue(t, r.Engine, lobby, s)
	silent.Heal()
	untilFresh(t, r.Hub)
	stir(t, r.Engine, ids, 20, func() {})
	untilTrue(t, r.Engine, lobby, s)
}

// Only the replica's own timer can end the lease: no seller is connected, and there is no notification and no
// beat.
func TestLeaseEndsInTimeWhereOnlySupportWatches(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.StartWith(t, servers["without notifications"]).Client(),
		room.Config{Lease: 300 * time.Millisecond}, hub.Config{Beat: time.Hour})
	s := r.watch(lobby)
	ids := sessions(2)
	join(t, r.Engine, ids[0])
	join(t, r.Engine, ids[1])
	// version 3, since the second seller may have joined after the first lease's end
	s.until("all over", func(p *desktest.Page) bool {
		return p.Version >= 3 && len(p.Line) == 0 &&
			p.Holder == nil
	})
}

// Sellers are on the first watcher's replica already: they get no frame because of it, and a second watcher
// gets the same bytes.
//
// Nothing calls the engine while the room changes: an answer that is ahead of its events for too long makes
// the hub send the room again. Nothing probes the subscription either: a busy machine loses probes, and a
// subscription that begins anew makes the hub send the whole line again.
func TestFiftyWatchersGetTheSameBytes(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Beat: time.Hour, Probe: time.Hour})
	ids := sessions(10)
	for _, id := range ids {
		join(t, r.Engine, id)
	}
	seller := r.dial(ids[9])
	seller.untilPosition(9)
	var screens []*screen
	for range 50 {
		screens = append(screens, r.watch(lobby))
	}
	for _, s := range screens {
		s.until("the room", func(p *desktest.Page) bool { return p.Frames["desk"] == 1 })
	}
	seller.mu.Lock()
	states := len(seller.states)
	seller.mu.Unlock()
	require.Equal(t, 1, states)
	require.NoError(t, seller.ws.CloseNow())
	untilGone(t, r.Redis, ids[9])
	for range 40 {
		leave(t, r.Engine, ids[0], room.Completed)
		join(t, r.Engine, ids[0])
		ids = append(ids[1:], ids[0])
	}
	untilTrue(t, r.Engine, lobby, screens...)
	var want string
	for _, s := range screens {
		changes := ""
		for _, text := range s.frames() {
			if strings.Contains(text, `"type":"change"`) {
				changes += text + "\n"
			}
		}
		require.Equal(t, 1, s.count("desk"), "the whole line is sent once")
		if want == "" {
			want = changes
		}
		require.Equal(t, want, changes)
	}
	require.Equal(t, 80, strings.Count(want, "\n"))
}

func TestSupportsSocketIsNoSellersPresence(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Beat: 20 * time.Millisecond})
	ids := sessions(2)
	join(t, r.Engine, ids[0])
	join(t, r.Engine, ids[1])
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, r.URL+deskPath+string(lobby),
		&websocket.DialOptions{HTTPHeader: http.Header{
			"X-Watcher": {r.watchers.add(desk.Watcher{})}, "X-Session-ID": {ids[1]}}})
	require.NoError(t, err)
	defer func() { _ = ws.CloseNow() }()
	s := r.watch(lobby)
	s.until("beats", func(p *desktest.Page) bool { return p.Frames["beat"] >= 2 })
	require.Zero(t, r.Redis.Exists(t.Context(), "{integration}:seen").Val())
}

func TestSupportMustComeFromTheServersOwnPages(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Origins: shop(t)})
	own := "http" + strings.TrimPrefix(r.URL, "ws")
	for name, c := range map[string]struct {
		header  http.Header
		ok      bool
		program bool
	}{
		"own origin and cookie":     {http.Header{"Origin": {own}, "Cookie": {"a=b"}}, true, false},
		"no origin, no cookie":      {http.Header{}, true, false},
		"an origin only of sellers": {http.Header{"Origin": {"https://shop.example"}}, false, false},
		"other origin":              {http.Header{"Origin": {"https://evil.example"}}, false, false},
		"cookie without origin":     {http.Header{"Cookie": {"a=b"}}, false, false},
		"a program's other origin":  {http.Header{"Origin": {"https://evil.example"}}, true, true},
		"a program's cookie":        {http.Header{"Cookie": {"a=b"}}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.header.Set("X-Watcher", r.watchers.add(desk.Watcher{Program: c.program}))
			ctx, cancel := context.WithTimeout(context.Background(), within)
			defer cancel()
			ws, res, err := websocket.Dial(ctx, r.URL+deskPath+"integration",
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

func TestSupportsSocketsArePingedAndDrained(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.Start(t).Client(), room.Config{},
		hub.Config{PingEvery: 2 * time.Second, DrainSpread: 50 * time.Millisecond})
	silent, answering, all := r.watch(lobby), r.watch(lobby), r.watch("")
	for n := range 3 {
		for _, s := range []*screen{answering, all} {
			s.until("a ping", func(p *desktest.Page) bool { return p.Frames["ping"] > n })
			require.NoError(t, s.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"pong"}`)))
		}
	}
	require.Equal(t, -1, silent.untilClosed())
	require.NoError(t, r.Hub.Drain(t.Context()))
	require.Equal(t, 4001, answering.untilClosed())
	require.Equal(t, 4001, all.untilClosed())
}

func TestBeatSaysHowOldIsWhatSupportSees(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	r := start(t, server.Client(), room.Config{}, hub.Config{})
	s := r.watch(lobby)
	s.until("a beat", func(p *desktest.Page) bool {
		return p.Beat.ServerTime > 0 &&
			p.Beat.ServerTime-p.Beat.AsOf < 1500
	})
	server.Pause()
	defer server.Resume()
	s.until("old data", func(p *desktest.Page) bool { return p.Beat.ServerTime-p.Beat.AsOf > 2500 })
	server.Resume()
	s.until("fresh data", func(p *desktest.Page) bool { return p.Beat.ServerTime-p.Beat.AsOf < 1500 })
}
