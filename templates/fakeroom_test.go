package templates_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/static"
	"github.com/waitroom/waitroom/templates"
)

type object = map[string]any

// fakeRoom is the other side of the page: one seller, and whatever a test tells it.
type fakeRoom struct {
	server *httptest.Server

	mu      sync.Mutex
	state   object
	version int
	sockets map[*websocket.Conn]bool
	calls   []string // method, path and body of each action
	next    object   // the state that the next action leads to
}

func startFakeRoom(t *testing.T) *fakeRoom {
	t.Helper()
	room := &fakeRoom{sockets: map[*websocket.Conn]bool{}, state: object{
		"type": "state", "room": "integration", "epoch": "e", "status": "idle", "queue_length": 3,
		"estimated_wait": 327, "maximum_wait": 447, "paused": false,
	}}
	mux := http.NewServeMux()
	mux.Handle("/static/", static.Handler())
	mux.HandleFunc("GET /rooms/integration", room.page)
	mux.HandleFunc("GET /api/integration/ws", room.socket)
	mux.HandleFunc("/api/integration/lock", room.action)
	room.server = httptest.NewServer(mux)
	t.Cleanup(room.server.Close)
	return room
}

func (r *fakeRoom) page(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Security-Policy", templates.ContentSecurityPolicy)
	view := everyState()["idle"]
	view.Lang = req.URL.Query().Get("lang")
	view.AssetPrefix, view.ServerTime, view.Version = static.Prefix(), time.Now().UnixMilli(), 0
	_ = templates.RoomPage(view).Render(req.Context(), w)
}

func (r *fakeRoom) socket(w http.ResponseWriter, req *http.Request) {
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
	r.calls = append(r.calls, req.Method+" "+req.URL.RequestURI()+" "+seller)
	next := r.next
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if problem, refused := next["code"]; refused {
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(object{"code": problem, "detail": next["detail"]})
		return
	}
	_, _ = w.Write(r.change(next))
}

// change goes on to a state, says so without telling anybody, and gives its frame.
func (r *fakeRoom) change(to object) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version++
	maps.Copy(r.state, to)
	return r.frame()
}

// push goes on to a state and tells every socket.
func (r *fakeRoom) push(t *testing.T, to object) {
	t.Helper()
	r.send(t, r.change(to))
}

func (r *fakeRoom) send(t *testing.T, frame []byte) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.sockets {
		require.NoError(t, conn.Write(t.Context(), websocket.MessageText, frame))
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

func (r *fakeRoom) lastCall() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[len(r.calls)-1]
}

func (r *fakeRoom) frame() []byte {
	r.state["version"], r.state["server_time"] = r.version, time.Now().UnixMilli()
	frame, err := json.Marshal(r.state)
	if err != nil {
		panic(err)
	}
	return frame
}
