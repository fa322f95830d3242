package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// liar is a server of one room that keeps all rules but one. Every socket gets a frame for every change.
type liar struct {
	lie string

	mu      sync.Mutex
	version int64
	tickets int64
	fence   int64
	places  map[string]*place
	waiting []*place
	holder  *place
	sockets map[chan State]string // whose
}

type place struct {
	session, status, outcome string
	ticket, fence            int64
}

func startLiar(t *testing.T, lie string) string {
	l := &liar{lie: lie, places: map[string]*place{}, sockets: map[chan State]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/integration/lock/status", l.status)
	mux.HandleFunc("POST /api/integration/lock", l.join)
	mux.HandleFunc("DELETE /api/integration/lock", l.leave)
	mux.HandleFunc("GET /api/integration/ws", l.ws)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// stands returns a session's state, true or false.
func (l *liar) stands(session string) State {
	s := State{Epoch: epoch, Version: l.version, Status: "idle", Length: int64(len(l.waiting)),
		ServerTime: time.Now().UnixMilli()}
	p := l.places[session]
	if p == nil {
		return s
	}
	s.Status, s.Outcome, s.Ticket, s.Fence = p.status, p.outcome, p.ticket, p.fence
	if p.status == "waiting" {
		s.Position = int64(slices.Index(l.waiting, p)) + 1
		if l.lie == Position && s.Position > 3 {
			s.Position--
		}
	}
	if l.lie == VersionBack && l.version%20 == 0 {
		s.Version -= 2
	}
	return s
}

// changed grants the free lock and sends all sockets their state.
func (l *liar) changed() {
	l.version++
	if l.holder == nil && len(l.waiting) > 0 {
		next := 0
		if n := len(l.waiting); l.lie == Overtaking && n > 5 {
			next = n - 1
		}
		l.grant(l.waiting[next])
		l.waiting = slices.Delete(l.waiting, next, next+1)
	}
	if l.lie == TwoHolders && l.version%25 == 0 && len(l.waiting) > 0 {
		l.grant(l.waiting[0])
		l.waiting = l.waiting[1:]
	}
	if n := len(l.waiting); l.lie == LostPlace && l.version%50 == 0 && n > 5 {
		delete(l.places, l.waiting[5].session)
		l.waiting = slices.Delete(l.waiting, 5, 6)
	}
	for frames, session := range l.sockets {
		frames <- l.stands(session)
	}
}

func (l *liar) grant(p *place) {
	l.fence = max(time.Now().UnixMicro(), l.fence+1)
	p.status, p.fence = "locked", l.fence
	l.holder = p
}

func (l *liar) join(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	session := r.Header.Get("X-Session-ID")
	if p := l.places[session]; p == nil || p.status == "ended" {
		l.tickets++
		p = &place{session: session, ticket: l.tickets, status: "waiting"}
		l.places[session] = p
		l.waiting = append(l.waiting, p)
		l.changed()
	}
	answerAs(w, l.stands(session))
}

func (l *liar) leave(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.places[r.Header.Get("X-Session-ID")]
	if p == nil || p.status == "ended" {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"code":"no_place","status":404}`))
		return
	}
	p.status, p.outcome, p.fence = "ended", r.URL.Query().Get("reason"), 0
	l.waiting = slices.DeleteFunc(l.waiting, func(other *place) bool { return other == p })
	if l.holder == p {
		l.holder = nil
	}
	l.changed()
	answerAs(w, l.stands(p.session))
}

func (l *liar) status(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stands(r.Header.Get("X-Session-ID"))
	mine := "null"
	if s.Status != "idle" {
		mine = fmt.Sprintf(`{"status":%q,"outcome":%q,"ticket":%d,"fence":%d,"queue_position":%d,"queue_length":%d}`,
			s.Status, s.Outcome, s.Ticket, s.Fence, s.Position, s.Length)
	}
	_, _ = fmt.Fprintf(w, `{"status":"free","epoch":%d,"version":%d,"queue_length":%d,"me":%s}`, s.Epoch,
		s.Version, len(l.waiting), mine)
}

func answerAs(w http.ResponseWriter, s State) {
	_ = json.NewEncoder(w).Encode(map[string]any{"status": s.Status, "outcome": s.Outcome, "epoch": s.Epoch,
		"version": s.Version,
		"ticket":  s.Ticket, "fence": s.Fence, "queue_position": s.Position, "queue_length": s.Length})
}

func (l *liar) ws(w http.ResponseWriter, r *http.Request) {
	session := r.Header.Get("X-Session-ID")
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = ws.CloseNow() }()
	ctx := ws.CloseRead(r.Context())
	frames := make(chan State, 10_000)
	l.mu.Lock()
	l.sockets[frames] = session
	frames <- l.stands(session)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.sockets, frames)
	}()
	for {
		select {
		case s := <-frames:
			if ws.Write(ctx, websocket.MessageText, []byte(frameOf(s))) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// frameOf writes a state as the contract does.
func frameOf(s State) string {
	f := fmt.Sprintf(`{"type":"state","room":"integration","epoch":%d,"version":%d,"server_time":%d,"status":%q,"outcome":%q,"ticket":%d,`+
		`"queue_position":%d,"queue_length":%d,"lease_expires_at":null,"fence":%d,"paused":false,"claim_by":null,"codes":null}`,
		s.Epoch, s.Version, s.ServerTime, s.Status, s.Outcome, s.Ticket, s.Position, s.Length, s.Fence)
	return strings.NewReplacer(`"outcome":""`, `"outcome":null`, `"ticket":0`, `"ticket":null`,
		`"queue_position":0`, `"queue_position":null`,
		`"fence":0`, `"fence":null`).Replace(f)
}

func TestAServerThatLiesIsFoundOut(t *testing.T) {
	for _, lie := range []string{"", VersionBack, TwoHolders, Overtaking, Position, LostPlace} {
		t.Run("lie="+lie, func(t *testing.T) {
			t.Parallel()
			cfg := Config{URLs: []string{startLiar(t, lie)}, Rooms: []Crowd{{"integration", 30}},
				Duration: 3 * time.Second,
				Arrivals: 200, Hold: 30 * time.Millisecond, Rest: 50 * time.Millisecond, Seed: 7,
				Mix:   Mix{Impatient: 10, Reloading: 10, Tabs: 10},
				Rules: Rules{Settle: 300 * time.Millisecond, Present: 500 * time.Millisecond}}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if lie == "" { // what a busy machine is late with is no lie
				cfg.Duration, cfg.Rules = 6*time.Second, Rules{Settle: 2 * time.Second, Present: 2 * time.Second}
			}
			// the server lies only at some versions, which a slow machine may not reach in time
			if enough := cfg.Duration; lie != "" {
				cfg.Duration, cfg.Every = time.Minute, func(l Line) {
					if l.At >= enough && l.Violations > 0 {
						stop()
					}
				}
			}
			summary, err := Run(ctx, cfg)
			require.NoError(t, err)
			r := summary.Rooms["integration"]
			require.NotZero(t, r.Leases)
			require.NotZero(t, r.Checked)
			if lie == "" {
				require.Empty(t, summary.Violations)
				require.True(t, summary.OK())
				return
			}
			require.NotZero(t, r.Violations[lie], "%v", summary.Violations)
			require.False(t, summary.OK())
		})
	}
}

func TestTheCrowdStaysOnThisMachine(t *testing.T) {
	for _, address := range []string{"192.0.2.1:80", "[2001:db8::1]:80", "0.0.0.0:80"} {
		require.ErrorContains(t, loopback(address), "--anywhere")
	}
	require.NoError(t, loopback("127.0.0.1:80"))
	require.NoError(t, loopback("[::1]:80"))

	cfg := Config{URLs: []string{"http://192.0.2.1:8080"}, Rooms: []Crowd{{"integration", 1}},
		Duration: time.Second}
	_, err := Run(t.Context(), cfg)
	require.ErrorContains(t, err, "--anywhere")
	_, err = (Dialer{}).Dial(t.Context(), "http://192.0.2.1:8080", "integration", "")
	require.ErrorContains(t, err, "--anywhere")
}

func TestARunIsBounded(t *testing.T) {
	good := Config{URLs: []string{"http://127.0.0.1:1"}, Rooms: []Crowd{{"integration", 1}},
		Duration: time.Second}
	for name, spoil := range map[string]func(*Config){
		"nowhere":       func(c *Config) { c.URLs = nil },
		"not a replica": func(c *Config) { c.URLs = []string{"ftp://127.0.0.1"} },
		"no seller":     func(c *Config) { c.Rooms[0].People = 0 },
		"too many":      func(c *Config) { c.Rooms[0].People = MaxPeople + 1 },
		"twice":         func(c *Config) { c.Rooms = append(c.Rooms, c.Rooms[0]) },
		"for ever":      func(c *Config) { c.Duration = MaxDuration + 1 },
		"no time":       func(c *Config) { c.Duration = 0 },
		"a bad mix":     func(c *Config) { c.Mix = Mix{Sleeping: 60, Tabs: 50} },
		"a bad secret":  func(c *Config) { c.Carrier.Secret = "whsec_!" },
	} {
		t.Run(name, func(t *testing.T) {
			c := good
			c.Rooms = slices.Clone(good.Rooms)
			spoil(&c)
			_, err := gather(c)
			require.Error(t, err)
		})
	}
}

func TestSettingsAreRead(t *testing.T) {
	mix, err := ParseMix("impatient=5,tabs=10")
	require.NoError(t, err)
	require.Equal(t, Mix{Impatient: 5, Tabs: 10}, mix)
	require.Equal(t, impatient, mix.kind(4))
	require.Equal(t, tabbed, mix.kind(5))
	require.Equal(t, steady, mix.kind(15))
	rooms, err := ParseRooms("integration=90,a:b=10")
	require.NoError(t, err)
	require.Equal(t, []Crowd{{"integration", 90}, {"a:b", 10}}, rooms)
	for _, bad := range []string{"x=1", "tabs", "tabs=-1", "tabs=60,sleeping=50"} {
		_, err := ParseMix(bad)
		require.Error(t, err)
	}
	for _, bad := range []string{"", "a", "a=0", "=1"} {
		_, err := ParseRooms(bad)
		require.Error(t, err)
	}
}

// A read that timed out must not lose the part of a frame that has arrived.
func TestAFrameThatComesInPiecesIsReadWhole(t *testing.T) {
	long := `{"type":"sms","text":"` + strings.Repeat("x", 3000) + `"}`
	next := make(chan string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " +
			"websocket\r\n\r\n"))
		for piece := range next {
			_, _ = conn.Write([]byte(piece))
		}
	}))
	defer server.Close()
	defer close(next)
	s, err := (Dialer{}).Dial(context.Background(), server.URL, "integration", "")
	require.NoError(t, err)
	defer func() { _ = s.Close() }()
	soon := func() time.Time { return time.Now().Add(20 * time.Millisecond) }

	next <- "\x81"
	_, err = s.Read(soon())
	require.ErrorIs(t, err, ErrTimeout)
	next <- "\x05hello"
	text, err := s.Read(time.Time{})
	require.NoError(t, err)
	require.Equal(t, "hello", string(text))

	next <- "\x81\x7e\x0b\xd8"[:2] + string([]byte{byte(len(long) >> 8), byte(len(long))}) + long +
		"\x81\x02ok\x88\x04\x0f\xa1by"
	text, err = s.Read(time.Time{})
	require.NoError(t, err)
	require.Equal(t, long, string(text))
	text, err = s.Read(time.Time{})
	require.NoError(t, err)
	require.Equal(t, "ok", string(text))
	_, err = s.Read(time.Time{})
	require.Equal(t, &CloseError{Code: 4001, Reason: "by"}, err)
	require.True(t, err.(*CloseError).Again())
}

func TestAFrameIsReadAsTheContractWritesIt(t *testing.T) {
	want := State{Epoch: epoch, Version: 7, Status: "waiting", Ticket: 3, Position: 2, Length: 4, ServerTime: 12,
		ExpiresAt: 0}
	require.Equal(t, want, parseState([]byte(frameOf(want))))
	require.Equal(t, kindState, kindOf([]byte(frameOf(want))))
	otherOrder := `{"fence":null,"ticket":3,"queue_length":4,"queue_position":2,"status":"waiting","version":7,"epoch":1000000,"server_time":12,"type":"state"}`
	require.Equal(t, want, parseState([]byte(otherOrder)))
}
