package faults

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// socket is a browser's WebSocket. It reconnects, mostly to another replica, whenever it breaks.
type socket struct {
	run           *Run
	room, session string
	wake          chan struct{} // a frame came
	stop          context.CancelFunc
	gone          chan struct{}

	mu   sync.Mutex
	last frame
	conn *websocket.Conn
	at   *replica
}

// frame has the fields that are read of any frame.
type frame struct {
	Type       string
	Epoch      int64
	Version    int64
	ServerTime int64 `json:"server_time"`
	Status     string
	Outcome    string
	Ticket     int64
	Position   int64 `json:"queue_position"`
	Length     int64 `json:"queue_length"`
	Fence      int64
	ExpiresAt  int64 `json:"lease_expires_at"`
	ClaimBy    int64 `json:"claim_by"`
	Unclaimed  bool
	MessageID  string `json:"message_id"`
	Code       string
}

// firstTry is the longest delay of a browser before it reconnects.
const firstTry = 500 * time.Millisecond

func openSocket(ctx context.Context, r *Run, room, session string, first int) *socket {
	ctx, stop := context.WithCancel(ctx)
	s := &socket{run: r, room: room, session: session, wake: make(chan struct{}, 1), stop: stop,
		gone: make(chan struct{})}
	go s.listen(ctx, first)
	return s
}

// close returns when nothing more of the socket is recorded.
func (s *socket) close() {
	s.stop()
	<-s.gone
}

// reload breaks the connection; the socket reconnects by itself.
func (s *socket) reload() {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn != nil {
		_ = conn.CloseNow()
	}
}

// now returns the last state and the replica that sent it; ok is false while there is no connection.
func (s *socket) now() (frame, *replica, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.at, s.conn != nil && s.last.Type == "state"
}

func (s *socket) listen(ctx context.Context, first int) {
	defer close(s.gone)
	rng := s.run.random("socket " + s.session)
	for n := first; ctx.Err() == nil; n++ {
		p := s.run.doors[n%len(s.run.doors)]
		s.connection(ctx, p)
		wait := time.Duration(rng.Int64N(int64(firstTry)))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// connection reads one connection to its end.
func (s *socket) connection(ctx context.Context, p *replica) {
	dialling, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	conn, _, err := websocket.Dial(dialling, "ws://"+p.front.addr+"/api/"+s.room+"/ws",
		&websocket.DialOptions{HTTPHeader: http.Header{"X-Session-Id": {s.session}}})
	if err != nil {
		return
	}
	id := s.run.sockets.Add(1)
	s.set(conn, p)
	about := Record{Room: s.room, Session: s.session, Replica: p.name, Socket: id}
	opened := about
	opened.Kind = KindOpen
	s.run.history.Add(opened)
	closed := about
	closed.Kind, closed.Error = KindClose, s.read(ctx, conn, about).Error()
	s.set(nil, nil)
	s.run.history.Add(closed)
	_ = conn.CloseNow()
}

func (s *socket) set(conn *websocket.Conn, p *replica) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.at, s.last = conn, p, frame{}
}

func (s *socket) read(ctx context.Context, conn *websocket.Conn, about Record) error {
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var f frame
		if err := json.Unmarshal(text, &f); err != nil {
			return err
		}
		if f.Type == "ping" {
			if err := conn.Write(ctx, websocket.MessageText, []byte(`{"type":"pong"}`)); err != nil {
				return err
			}
			continue
		}
		s.take(f, about)
	}
}

func (s *socket) take(f frame, about Record) {
	r := about
	r.Kind, r.Type, r.Epoch, r.Version, r.ServerTime = KindFrame, f.Type, f.Epoch, f.Version, f.ServerTime
	r.Status, r.Outcome, r.Ticket, r.Position, r.Length = f.Status, f.Outcome, f.Ticket, f.Position, f.Length
	r.Fence, r.ExpiresAt, r.Message, r.Code = f.Fence, f.ExpiresAt, f.MessageID, f.Code
	r.ClaimBy, r.Unclaimed = f.ClaimBy, f.Unclaimed
	s.run.history.Add(r)
	if f.Type == "state" {
		s.mu.Lock()
		s.last = f
		s.mu.Unlock()
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
