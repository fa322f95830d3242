package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// socket is a session's WebSocket, which reconnects to another replica whenever it breaks.
type socket struct {
	fleet         *fleet
	room, session string
	wake          chan struct{} // a frame came

	mu     sync.Mutex
	codes  []string // of the messages that it was shown
	states []frame
}

func newSocket(f *fleet, room, session string) *socket {
	return &socket{fleet: f, room: room, session: session, wake: make(chan struct{}, 1)}
}

type frame struct {
	Type    string
	Epoch   int64
	Version int64
	Status  string
	Code    string
	raw     string
}

// listen goes on until ctx ends. Its error is a broken rule.
func (s *socket) listen(ctx context.Context) error {
	for n := 0; ; n++ {
		err := s.connection(ctx, n)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, errRule) {
			return err
		}
		if err := linger(ctx, 5*time.Millisecond); err != nil {
			return nil
		}
	}
}

var errRule = errors.New("a socket's rule is broken")

// connection reads one connection to its end.
func (s *socket) connection(ctx context.Context, n int) error {
	url := s.fleet.members[n%len(s.fleet.members)].url + "/api/" + s.room + "/ws"
	conn, _, err := websocket.Dial(ctx, url,
		&websocket.DialOptions{HTTPHeader: http.Header{"X-Session-Id": {s.session}}})
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	var last frame
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var f frame
		if err := json.Unmarshal(text, &f); err != nil {
			return fmt.Errorf("%w: frame %s", errRule, text)
		}
		f.raw = string(text)
		switch f.Type {
		case "ping":
			err = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"pong"}`))
		case "state":
			if f.Epoch == last.Epoch && f.Version < last.Version {
				return fmt.Errorf("%w: version %d after %d in %s", errRule, f.Version, last.Version, s.room)
			}
			last = f
		}
		s.received(f)
		if err != nil {
			return err
		}
	}
}

func (s *socket) received(f frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Type == "sms" {
		s.codes = append(s.codes, f.Code)
	}
	if f.Type != "ping" {
		s.states = append(s.states, f)
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// frames returns every frame received so far, without pings.
func (s *socket) frames() []frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]frame(nil), s.states...)
}

func (s *socket) shown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.codes...)
}
