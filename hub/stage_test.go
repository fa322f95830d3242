package hub_test

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
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

const (
	lobby  = room.ID("integration")
	within = time.Minute // no test is held to a time; this ends one that hangs
)

// replica is a hub with its HTTP server.
type replica struct {
	t      testing.TB
	Hub    *hub.Hub
	Engine *room.Engine
	Redis  redis.UniversalClient
	URL    string
	end    func()

	watchers *watchers
}

// start runs a replica until the test ends. It returns once its subscription to Redis works.
func start(t testing.TB, rdb redis.UniversalClient, rules room.Config, cfg hub.Config) *replica {
	t.Helper()
	engine := room.New(rdb, rules)
	cfg.Engine, cfg.Redis = engine, rdb
	h, watchers := hub.New(cfg), new(watchers)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := error(nil)
		if id, support := strings.CutPrefix(r.URL.Path, deskPath); support {
			err = h.ServeDesk(w, r, room.ID(id), watchers.of(r))
		} else {
			err = h.ServeSocket(w, r, room.ID(strings.TrimPrefix(r.URL.Path, "/")),
				r.Header.Get("X-Session-ID"), r.Header.Get("Accept-Language"))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	}))
	end := sync.OnceFunc(func() {
		cancel()
		running.Wait()
		server.Close()
	})
	t.Cleanup(end)
	untilFresh(t, h)
	return &replica{t: t, Hub: h, Engine: engine, Redis: rdb, URL: "ws" +
		strings.TrimPrefix(server.URL, "http"), end: end, watchers: watchers}
}

func untilFresh(t testing.TB, h *hub.Hub) {
	t.Helper()
	testproc.Until(t, within, func() error {
		if !h.Fresh() {
			return fmt.Errorf("subscription is not alive")
		}
		return nil
	})
}

// state is a state frame as a client sees it.
type state struct {
	Type           string       `json:"type"`
	Room           string       `json:"room"`
	Epoch          int64        `json:"epoch"`
	Version        int64        `json:"version"`
	ServerTime     int64        `json:"server_time"`
	Status         string       `json:"status"`
	Outcome        *string      `json:"outcome"`
	Ticket         *int64       `json:"ticket"`
	QueuePosition  *int64       `json:"queue_position"`
	QueueLength    int64        `json:"queue_length"`
	EstimatedWait  *int64       `json:"estimated_wait"`
	MaximumWait    *int64       `json:"maximum_wait"`
	LeaseExpiresAt *int64       `json:"lease_expires_at"`
	Fence          *int64       `json:"fence"`
	OpensAt        *int64       `json:"opens_at"`
	Notice         *wire.Notice `json:"notice"`
	Paused         bool         `json:"paused"`
	ClaimBy        *int64       `json:"claim_by"`
	Unclaimed      bool         `json:"unclaimed"`
}

func (s state) String() string {
	text, _ := json.Marshal(s)
	return string(text)
}

// socket is a client that keeps the frames it received.
type socket struct {
	t       testing.TB
	ws      *websocket.Conn
	session string

	mu      sync.Mutex
	arrived chan struct{} // closed and renewed at each frame
	states  []state
	raw     []string
	others  []map[string]any // every frame but the states
	closed  error
	wrong   []string
}

// dial opens a socket; session "" is a spectator.
func (r *replica) dial(session string) *socket { return r.dialRoom(lobby, session) }

func (r *replica) dialRoom(id room.ID, session string) *socket { return r.dialIn("ko", id, session) }

// dialIn opens a socket for a reader of a language.
func (r *replica) dialIn(lang string, id room.ID, session string) *socket {
	r.t.Helper()
	header := http.Header{"Accept-Language": {lang}}
	if session != "" {
		header.Set("X-Session-ID", session)
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, r.URL+"/"+string(id), &websocket.DialOptions{HTTPHeader: header})
	require.NoError(r.t, err)
	s := &socket{t: r.t, ws: ws, session: session, arrived: make(chan struct{})}
	var reading sync.WaitGroup
	reading.Go(s.read)
	r.t.Cleanup(func() {
		_ = ws.CloseNow()
		reading.Wait()
		require.Empty(r.t, s.wrong)
	})
	return s
}

func (s *socket) read() {
	for {
		_, text, err := s.ws.Read(context.Background())
		s.mu.Lock()
		if err != nil {
			s.closed = err
		} else {
			s.take(text)
		}
		close(s.arrived)
		s.arrived = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take records a frame and checks the rules that hold for every frame.
func (s *socket) take(text []byte) {
	var f map[string]any
	if err := json.Unmarshal(text, &f); err != nil {
		s.wrong = append(s.wrong, "not JSON: "+string(text))
		return
	}
	s.raw = append(s.raw, string(text))
	if err := wrongFrame("/api/integration/ws", text); err != nil {
		s.wrong = append(s.wrong, err.Error())
	}
	if f["type"] != "state" {
		s.others = append(s.others, f)
		return
	}
	var st state
	_ = json.Unmarshal(text, &st)
	if n := len(s.states); n > 0 && s.states[n-1].Epoch == st.Epoch && s.states[n-1].Version > st.Version {
		s.wrong = append(s.wrong, fmt.Sprintf("version went back: %s after %s", st, s.states[n-1]))
	}
	s.states = append(s.states, st)
}

// until waits for a state that fulfils a condition, and returns it.
func (s *socket) until(what string, so func(state) bool) state {
	s.t.Helper()
	deadline := time.After(within)
	seen := 0
	for {
		s.mu.Lock()
		arrived, closed := s.arrived, s.closed
		for ; seen < len(s.states); seen++ {
			if so(s.states[seen]) {
				st := s.states[seen]
				s.mu.Unlock()
				return st
			}
		}
		last := "no state"
		if n := len(s.states); n > 0 {
			last = s.states[n-1].String()
		}
		s.mu.Unlock()
		require.NoError(s.t, closed, "%s: closed while waiting for: %s; last %s", s.session, what, last)
		select {
		case <-arrived:
		case <-deadline:
			require.Fail(s.t, "never received", "%s: waiting for: %s; last %s", s.session, what, last)
		}
	}
}

func (s *socket) untilStatus(status room.Status) state {
	s.t.Helper()
	return s.until(string(status), func(st state) bool { return st.Status == string(status) })
}

func (s *socket) untilPosition(p int64) state {
	s.t.Helper()
	return s.until(fmt.Sprintf("position %d", p),
		func(st state) bool { return st.QueuePosition != nil && *st.QueuePosition == p })
}

func (s *socket) untilOutcome(o room.Outcome) state {
	s.t.Helper()
	return s.until("outcome "+string(o), func(st state) bool {
		return st.Outcome != nil &&
			*st.Outcome == string(o)
	})
}

// untilOther waits for the n-th frame that is not of type state.
func (s *socket) untilOther(n int) map[string]any {
	s.t.Helper()
	var f map[string]any
	s.untilTrue("another frame", func() bool {
		if len(s.others) >= n {
			f = s.others[n-1]
		}
		return f != nil
	})
	return f
}

func (s *socket) untilTrue(what string, so func() bool) {
	s.t.Helper()
	deadline := time.After(within)
	for {
		s.mu.Lock()
		arrived, ok := s.arrived, so()
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-arrived:
		case <-deadline:
			require.Fail(s.t, "never received", what)
		}
	}
}

// untilClosed waits for the close and returns its code.
func (s *socket) untilClosed() int {
	s.t.Helper()
	s.untilTrue("close", func() bool { return s.closed != nil })
	return int(websocket.CloseStatus(s.closed))
}

func (s *socket) last() (state, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.states) == 0 {
		return state{}, false
	}
	return s.states[len(s.states)-1], true
}

func (s *socket) send(typ websocket.MessageType, text string) {
	s.t.Helper()
	require.NoError(s.t, s.ws.Write(context.Background(), typ, []byte(text)))
}

// untilSettled waits until every socket has the engine's state of its session.
func untilSettled(t testing.TB, e *room.Engine, id room.ID, sockets ...*socket) {
	t.Helper()
	testproc.Until(t, within, func() error {
		for part := range slices.Chunk(sockets, room.LookBatch) {
			sessions := make([]string, len(part))
			for i, s := range part {
				sessions[i] = s.session
			}
			view, seats, err := e.Look(context.Background(), id, sessions...)
			if err != nil {
				return err
			}
			for i, s := range part {
				if st, ok := s.last(); !ok || !agrees(st, view, seats[i].Place) {
					return fmt.Errorf("socket %d shows %s, engine has %+v and %+v", i, st, view,
						seats[i].Place)
				}
			}
		}
		return nil
	})
}

func agrees(st state, v room.View, p room.Place) bool {
	return st.Epoch == v.Epoch && st.Version == v.Version && st.Status == string(p.Status) &&
		st.QueueLength == int64(v.Waiting) &&
		value(st.Ticket) == p.Ticket && value(st.QueuePosition) == int64(p.Position) &&
		(st.Status != "locked" || value(st.Fence) == p.Fence) &&
		(st.Outcome == nil || *st.Outcome == string(p.Outcome))
}

func outcome(st state) string {
	if st.Outcome == nil {
		return ""
	}
	return *st.Outcome
}

func value(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// join joins a session. The seller's name has half of the session: eight digits of two sessions would be
// equal once in ten thousand tests.
func join(t testing.TB, e *room.Engine, session string) room.Standing {
	t.Helper()
	st, err := e.Join(context.Background(), lobby,
		room.JoinRequest{Session: session, Seller: "s-" + session[:18]})
	require.NoError(t, err)
	return st
}

func leave(t testing.TB, e *room.Engine, session string, o room.Outcome) room.Standing {
	t.Helper()
	st, err := e.Leave(context.Background(), lobby, room.LeaveRequest{Session: session, Outcome: o})
	require.NoError(t, err)
	return st
}

func sessions(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = room.NewSession()
	}
	return list
}
