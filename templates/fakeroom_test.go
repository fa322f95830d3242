package templates_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/static"
	"github.com/waitroom/waitroom/templates"
)

type object = map[string]any

// fakeRoom is a server of the seller's page for one seller. A test decides its frames.
type fakeRoom struct {
	server *httptest.Server

	mu      sync.Mutex
	state   object
	version int
	sockets map[*websocket.Conn]bool
	view    templates.RoomView // the page
	calls   []call
	at      int64         // its time, unix ms, where it stands still; 0: it runs
	fail    int           // so many calls are answered 503 first
	next    object        // the state that the next action leads to, or a problem
	others  int           // so many pages are another version's first
	shut    chan struct{} // no socket is let in until it is closed; nil: every socket is
}

// call is one action of the page.
type call struct {
	what string // method, path and seller
	key  string // Idempotency-Key
	body object
}

func startFakeRoom(t *testing.T) *fakeRoom {
	t.Helper()
	room := &fakeRoom{sockets: map[*websocket.Conn]bool{}, state: object{
		"type": "state", "room": "integration", "epoch": "e", "status": "idle", "queue_length": 3,
		"estimated_wait": 327, "maximum_wait": 447, "paused": false,
	}, view: everyState()["idle"]}
	mux := http.NewServeMux()
	mux.Handle("/static/", static.Handler())
	mux.HandleFunc("GET /rooms/integration", room.page)
	mux.HandleFunc("GET /rooms/integration/brand/{digest}/{file}", room.brandFile)
	mux.HandleFunc("GET /api/integration/ws", room.socket)
	mux.HandleFunc("/api/integration/lock", room.action)
	mux.HandleFunc("POST /api/integration/lock/{verb}", room.action)
	mux.HandleFunc("GET /api/integration/lock/status", room.status)
	room.server = httptest.NewServer(mux)
	t.Cleanup(room.server.Close)
	return room
}

func (r *fakeRoom) page(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Security-Policy", templates.ContentSecurityPolicy)
	view := r.view
	view.Lang = req.URL.Query().Get("lang")
	view.AssetPrefix, view.ServerTime, view.Version = static.Prefix(), r.now(), 0
	if r.others > 0 {
		r.others--
		view.AssetPrefix = "/static/v-000000000000"
	}
	_ = templates.RoomPage(view).Render(req.Context(), w)
}

func (r *fakeRoom) brandFile(w http.ResponseWriter, req *http.Request) {
	file := *r.view.Info.Brand.Style
	if req.PathValue("file") == "logo" {
		file = r.view.Info.Brand.Logo.File
	}
	w.Header().Set("Content-Type", file.Kind)
	_, _ = w.Write(file.Content)
}

func (r *fakeRoom) socket(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	shut := r.shut
	r.mu.Unlock()
	if shut != nil {
		select {
		case <-shut:
		case <-req.Context().Done():
		}
	}
	conn, err := websocket.Accept(w, req, nil)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.sockets[conn] = true
	first := r.frame()
	r.mu.Unlock()
	_ = conn.Write(context.Background(), websocket.MessageText, first)
	for err == nil {
		_, _, err = conn.Read(context.Background())
	}
	r.mu.Lock()
	delete(r.sockets, conn)
	r.mu.Unlock()
}

func (r *fakeRoom) action(w http.ResponseWriter, req *http.Request) {
	var body object
	_ = json.NewDecoder(req.Body).Decode(&body)
	seller, _ := body["seller_id"].(string)
	r.mu.Lock()
	r.calls = append(r.calls, call{req.Method + " " + req.URL.RequestURI() + " " + seller,
		req.Header.Get("Idempotency-Key"), body})
	next, failed := r.next, r.fail > 0
	r.fail--
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch _, refused := next["code"]; {
	case failed:
		w.WriteHeader(http.StatusServiceUnavailable)
	case refused:
		status, ok := next["http"].(int)
		if !ok {
			status = http.StatusConflict
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(next)
	case req.PathValue("verb") == "expect":
		_ = json.NewEncoder(w).Encode(r.expect())
	case req.PathValue("verb") == "reach":
		_, _ = w.Write([]byte(`{"status":"chosen"}`))
	case req.PathValue("verb") == "reject":
		_, _ = w.Write([]byte(`{"status":"rejected"}`))
	default:
		_, _ = w.Write(r.change(next))
	}
}

// expect records one more ask and answers it.
func (r *fakeRoom) expect() object {
	asked := 1
	if codes, ok := r.state["codes"].(object); ok {
		asked += codes["asked"].(int)
	}
	r.change(object{"codes": object{"asked": asked, "open": asked, "ask_after": nil}})
	r.mu.Lock()
	defer r.mu.Unlock()
	return object{"status": "expecting", "room": "integration", "ticket": r.state["ticket"],
		"fence": r.state["fence"],
		"asked": asked, "open": asked, "expires_at": rfc(
			r.state["lease_expires_at"].(int64)), "epoch": "e", "version": r.version}
}

// status answers that the seller's place has ended, as the contract does: without its ticket.
func (r *fakeRoom) status(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = json.NewEncoder(w).Encode(object{"room": "integration", "status": "free", "paused": false,
		"queue_length": 0, "expires_in": nil,
		"epoch": "e", "version": r.version, "server_time": time.Now().UnixMilli(), "me": object{"status": "ended",
			"outcome": "completed"}})
}

func rfc(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// change sets the next state without sending it, and returns its frame.
func (r *fakeRoom) change(to object) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version++
	maps.Copy(r.state, to)
	return r.frame()
}

// shutOut refuses sockets until the returned function is called. Otherwise a page may reconnect before a test
// sees that it was disconnected.
func (r *fakeRoom) shutOut() (letIn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	shut := make(chan struct{})
	r.shut = shut
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.shut = nil
		close(shut)
	}
}

// push sets the next state and sends it to every socket.
func (r *fakeRoom) push(t *testing.T, to object) {
	t.Helper()
	r.write(t, r.change(to))
}

// send sends a frame that is not of type state.
func (r *fakeRoom) send(t *testing.T, frame object) {
	t.Helper()
	encoded, err := json.Marshal(frame)
	require.NoError(t, err)
	r.write(t, encoded)
}

func (r *fakeRoom) write(t *testing.T, frame []byte) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.sockets {
		// the page may have closed without the server's knowledge
		_ = conn.Write(t.Context(), websocket.MessageText, frame)
	}
}

func (r *fakeRoom) then(next object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = next
}

func (r *fakeRoom) closeAll(code websocket.StatusCode) {
	r.mu.Lock()
	conns := maps.Clone(r.sockets)
	r.mu.Unlock()
	for conn := range conns {
		_ = conn.Close(code, "")
	}
}

func (r *fakeRoom) lastCall() string { return r.last().what }

func (r *fakeRoom) last() call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[len(r.calls)-1]
}

func (r *fakeRoom) now() int64 {
	if r.at != 0 {
		return r.at
	}
	return time.Now().UnixMilli()
}

// made returns all calls so far.
func (r *fakeRoom) made() []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func (r *fakeRoom) frame() []byte {
	r.state["version"], r.state["server_time"] = r.version, r.now()
	frame, err := json.Marshal(r.state)
	if err != nil {
		panic(err)
	}
	return frame
}
