package hub_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/desk/desktest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

const deskPath = "/-/desk/"

// watchers are the agents of support whose sign-in a test accepts.
type watchers struct {
	mu   sync.Mutex
	list []desk.Watcher
}

func (w *watchers) of(r *http.Request) (who desk.Watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var n int
	if _, err := fmt.Sscan(r.Header.Get("X-Watcher"), &n); err == nil {
		who = w.list[n]
	}
	return who
}

func (w *watchers) add(who desk.Watcher) (number string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, who)
	return fmt.Sprint(len(w.list) - 1)
}

// screen is a page of support that keeps the frames it received.
type screen struct {
	path string // of the socket, as it is described
	t    testing.TB
	ws   *websocket.Conn

	mu      sync.Mutex
	arrived chan struct{} // closed and renewed at each frame
	page    desktest.Page
	raw     []string
	failed  error
	closed  error
}

// watch opens support's socket of a room, or of all rooms for "".
func (r *replica) watch(id room.ID) *screen { return r.watchAs(id, desk.Watcher{Key: "agent"}) }

func (r *replica) watchAs(id room.ID, who desk.Watcher) *screen {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	header := http.Header{"X-Watcher": {r.watchers.add(who)}}
	ws, _, err := websocket.Dial(ctx, r.URL+deskPath+string(id), &websocket.DialOptions{HTTPHeader: header})
	require.NoError(r.t, err)
	ws.SetReadLimit(-1)
	s := &screen{t: r.t, ws: ws, path: path.Join("/api/support", string(id), "ws"), arrived: make(chan struct{})}
	var reading sync.WaitGroup
	reading.Go(s.read)
	r.t.Cleanup(func() {
		_ = ws.CloseNow()
		reading.Wait()
		require.NoError(r.t, s.failed)
	})
	return s
}

func (s *screen) read() {
	for {
		_, text, err := s.ws.Read(context.Background())
		s.mu.Lock()
		if err != nil {
			s.closed = err
		} else {
			s.raw = append(s.raw, string(text))
			if err := errors.Join(s.page.Take(text), wrongFrame(s.path, text)); err != nil &&
				s.failed == nil {
				s.failed = err
			}
		}
		close(s.arrived)
		s.arrived = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// until waits until the page fulfils a condition.
func (s *screen) until(what string, so func(*desktest.Page) bool) {
	s.t.Helper()
	s.untilFrames(what, func([]string) bool { return so(&s.page) })
}

func (s *screen) untilFrames(what string, so func(raw []string) bool) {
	s.t.Helper()
	deadline := time.After(within)
	for {
		s.mu.Lock()
		arrived, ok, closed, failed := s.arrived, so(s.raw), s.closed, s.failed
		s.mu.Unlock()
		require.NoError(s.t, failed)
		if ok {
			return
		}
		require.NoError(s.t, closed, "closed while waiting for: %s", what)
		select {
		case <-arrived:
		case <-deadline:
			s.mu.Lock()
			defer s.mu.Unlock()
			require.Fail(s.t, "never received", "waiting for: %s; received %v, last %s", what, s.page.Frames,
				s.raw[max(0, len(s.raw)-3):])
		}
	}
}

// untilClosed waits for the close and returns its code.
func (s *screen) untilClosed() int {
	s.t.Helper()
	for {
		s.mu.Lock()
		arrived, closed := s.arrived, s.closed
		s.mu.Unlock()
		if closed != nil {
			return int(websocket.CloseStatus(closed))
		}
		select {
		case <-arrived:
		case <-time.After(within):
			require.Fail(s.t, "never closed")
		}
	}
}

// frames are the frames so far.
func (s *screen) frames() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.raw)
}

// shows reports whether the page fulfils a condition now.
func (s *screen) shows(so func(*desktest.Page) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return so(&s.page)
}

func (s *screen) count(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.page.Frames[kind]
}

// untilTrue waits until every page shows the engine's state of the room.
func untilTrue(t testing.TB, e *room.Engine, id room.ID, screens ...*screen) {
	t.Helper()
	testproc.Until(t, within, func() error {
		r, err := e.Roster(context.Background(), id)
		if err != nil {
			return err
		}
		for i, s := range screens {
			s.mu.Lock()
			differs := s.page.Differs(r)
			s.mu.Unlock()
			if differs != "" {
				return fmt.Errorf("page %d: %s", i, differs)
			}
		}
		return nil
	})
}
