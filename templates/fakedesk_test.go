package templates_test

import (
	"context"
	"encoding/json"
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

type list = []any

// waiter is one place in the fake line.
type waiter struct {
	ticket       int64
	seller       string
	joined, away int64
}

// fakeDesk is the server of support's live pages: a line that a test changes, and other frames.
type fakeDesk struct {
	server *httptest.Server
	watch  bool // the signed-in agent may watch only
	hours  bool // the room has opening hours
	out    bool // no agent is signed in

	mu      sync.Mutex
	sockets map[*websocket.Conn]bool
	opened  int
	version int64
	paused  bool
	opens   int64  // 0: the room is open
	support object // what support has set for the whole room
	holder  object
	line    []waiter
	tickets int64 // given by fresh

	addresses list
	rooms     list
	names     []templates.RoomName
	beside    []object // frames for every new socket after the first
	lag       time.Duration
	calls     []call
	refuse    object // the next action is refused with it
	start     time.Time
}

func startFakeDesk(t *testing.T, waiting int) *fakeDesk {
	t.Helper()
	d := &fakeDesk{sockets: map[*websocket.Conn]bool{}, version: 1, start: time.Now(), addresses: list{}}
	for i := range waiting {
		d.line = append(d.line,
			waiter{int64(i + 2), sellerName(i + 2), d.start.Add(-time.Duration(waiting-i) * time.Second).UnixMilli(),
				0})
	}
	d.holder = d.grant(1, "s-1")
	mux := http.NewServeMux()
	mux.Handle("/static/", static.Handler())
	mux.HandleFunc("GET /support", d.roomsPage)
	mux.HandleFunc("GET /support/integration", d.roomPage)
	mux.HandleFunc("GET /support/", elsewhere)
	mux.HandleFunc("GET /api/support/ws", d.socket)
	mux.HandleFunc("GET /api/support/integration/ws", d.socket)
	mux.HandleFunc("POST /api/support/integration/{verb}", d.action)
	mux.HandleFunc("GET /api/support/integration/addresses", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(encode(object{"addresses": d.addresses}))
	})
	d.server = httptest.NewServer(mux)
	stop := make(chan struct{})
	go d.beats(stop)
	t.Cleanup(func() { close(stop); d.server.Close() })
	return d
}

func sellerName(i int) string { return "s-" + ticketWord(int64(i)) }

func ticketWord(n int64) string { b, _ := json.Marshal(n); return string(b) }

func (d *fakeDesk) grant(ticket int64, seller string) object {
	now := time.Now().UnixMilli()
	return object{"ticket": ticket, "seller_id": seller, "fence": 1_790_000_000_000_000 + ticket,
		"granted_at": now, "expires_at": now + 120_000,
		"asked": 1, "open": 1, "ask_after": nil}
}

func (d *fakeDesk) view(req *http.Request) templates.DeskView {
	return templates.DeskView{Lang: req.URL.Query().Get("lang"), AssetPrefix: static.Prefix(), Agent: "mina",
		MayAct: !d.watch}
}

func (d *fakeDesk) roomsPage(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Security-Policy", templates.ContentSecurityPolicy)
	_ = templates.RoomsPage(templates.RoomsView{DeskView: d.view(req), Names: d.names}).Render(req.Context(), w)
}

func (d *fakeDesk) roomPage(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Security-Policy", templates.ContentSecurityPolicy)
	_ = templates.DeskRoomPage(templates.DeskRoomView{DeskView: d.view(req), Room: "integration",
		LeaseSeconds: 120, Hours: d.hours}).Render(req.Context(), w)
}

// elsewhere serves an empty page.
func elsewhere(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte(`<!doctype html><link rel="icon" href="data:,">`))
}

func (d *fakeDesk) socket(w http.ResponseWriter, req *http.Request) {
	if d.out {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	conn, err := websocket.Accept(w, req, nil)
	if err != nil {
		return
	}
	d.mu.Lock()
	first := []object{d.full()}
	if req.URL.Path == "/api/support/ws" {
		first = d.chunks()
	}
	for _, frame := range append(first, d.beside...) {
		_ = conn.Write(context.Background(), websocket.MessageText, encode(frame))
	}
	d.sockets[conn] = true
	d.opened++
	d.mu.Unlock()
	for err == nil {
		_, _, err = conn.Read(context.Background())
	}
	d.mu.Lock()
	delete(d.sockets, conn)
	d.mu.Unlock()
}

// chunks returns the frames with all rooms, at most 500 in each.
func (d *fakeDesk) chunks() []object {
	frames := []object{}
	for part := range slices.Chunk(d.rooms, 500) {
		frames = append(frames, object{"type": "rooms", "reset": len(frames) == 0,
			"server_time": time.Now().UnixMilli(), "set": part, "drop": list{}})
	}
	return append(frames, object{"type": "replicas", "list": list{replica("a", "ok", "ok")}})
}

// full returns the first frame of a room whose lock is held.
func (d *fakeDesk) full() object {
	line := make(list, 0, len(d.line))
	for _, w := range d.line {
		line = append(line, list{w.ticket, w.seller, w.joined, w.away})
	}
	frame := d.head("desk")
	frame["room"], frame["line"] = "integration", line
	return frame
}

func (d *fakeDesk) head(kind string) object {
	return object{"type": kind, "epoch": "e", "version": d.version, "server_time": time.Now().UnixMilli(),
		"paused": d.paused, "opens_at": d.opensAt(), "support": d.support,
		"hold": 60_000, "holder": d.holder}
}

func (d *fakeDesk) opensAt() any {
	if d.opens == 0 {
		return nil
	}
	return d.opens
}

// change changes the line and sends the change frame that do returns.
func (d *fakeDesk) change(t *testing.T, do func() object) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.apply(do)
}

// apply is change for a caller that holds the mutex.
func (d *fakeDesk) apply(do func() object) {
	shown := do()
	d.version++
	frame := d.head("change")
	for name, value := range shown {
		frame[name] = value
	}
	d.sendAll(frame)
}

func (d *fakeDesk) send(frame object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sendAll(frame)
}

func (d *fakeDesk) sendAll(frame object) {
	encoded := encode(frame)
	for conn := range d.sockets {
		_ = conn.Write(context.Background(), websocket.MessageText, encoded)
	}
}

func (d *fakeDesk) beats(stop chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			d.mu.Lock()
			d.beat(now)
			d.mu.Unlock()
		}
	}
}

// beat sends a heartbeat. The caller holds the mutex.
func (d *fakeDesk) beat(now time.Time) {
	d.sendAll(object{"type": "beat", "server_time": now.UnixMilli(), "as_of": now.Add(-d.lag).UnixMilli()})
}

// next hands the lock to the first seller who is not away, and returns the fields of its change frame.
func (d *fakeDesk) next(outcome string) object {
	shown := object{}
	if d.holder != nil {
		shown["left"] = list{list{d.holder["ticket"], outcome}}
	}
	d.holder = nil
	at := slices.IndexFunc(d.line, func(w waiter) bool { return w.away == 0 })
	if at >= 0 && !d.paused {
		d.holder = d.grant(d.line[at].ticket, d.line[at].seller)
		d.line = slices.Delete(d.line, at, at+1)
	}
	return shown
}

func (d *fakeDesk) join(ticket int64, seller string) object {
	now := time.Now().UnixMilli()
	d.line = append(d.line, waiter{ticket, seller, now, 0})
	return object{"joined": list{list{ticket, seller, now, len(d.line)}}}
}

func (d *fakeDesk) move(ticket int64, position int) object {
	at := d.at(ticket)
	moved := d.line[at]
	position = min(position, len(d.line))
	d.line = slices.Insert(slices.Delete(d.line, at, at+1), position-1, moved)
	return object{"moved": list{list{ticket, position}}}
}

func (d *fakeDesk) remove(ticket int64, outcome string) object {
	at := d.at(ticket)
	d.line = slices.Delete(d.line, at, at+1)
	return object{"left": list{list{ticket, outcome}}}
}

func (d *fakeDesk) away(ticket, since int64) object {
	d.line[d.at(ticket)].away = since
	return object{"away": list{list{ticket, since}}}
}

func (d *fakeDesk) at(ticket int64) int {
	return slices.IndexFunc(d.line, func(w waiter) bool { return w.ticket == ticket })
}

// action runs support's action and sends the change to all sockets, unless it has to refuse it.
func (d *fakeDesk) action(w http.ResponseWriter, req *http.Request) {
	var body object
	_ = json.NewDecoder(req.Body).Decode(&body)
	verb := req.PathValue("verb")
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, call{verb, req.Header.Get("Idempotency-Key"), body})
	w.Header().Set("Content-Type", "application/json")
	if d.refuse != nil {
		w.WriteHeader(d.refuse["http"].(int))
		_, _ = w.Write(encode(d.refuse))
		d.refuse = nil
		return
	}
	answer := object{"status": "done", "action": verb, "room": "integration", "epoch": "e", "version": d.version,
		"result": "matched", "shown": true}
	tickets, _ := body["tickets"].([]any)
	for _, ticket := range tickets {
		d.perform(verb, object{"ticket": ticket})
	}
	if tickets == nil {
		d.perform(verb, body)
	} else {
		answer["removed"] = len(tickets)
	}
	_, _ = w.Write(encode(answer))
}

func (d *fakeDesk) perform(verb string, body object) {
	number := func(name string) int64 { return int64(body[name].(float64)) }
	d.apply(func() object {
		switch verb {
		case "extend":
			d.holder["expires_at"] = d.holder["expires_at"].(int64) + 1000*number("seconds")
		case "release":
			return d.next("forced")
		case "move":
			return d.move(number("ticket"), int(number("position")))
		case "remove":
			return d.remove(number("ticket"), "removed")
		case "pause", "resume":
			d.paused = verb == "pause"
		case "announce":
			d.announce(body)
		case "open":
			d.opens, d.support = 0, object{"open_until": d.begins()}
		case "close":
			d.opens = d.begins()
			d.support = object{"closed_until": d.opens}
		}
		return object{}
	})
}

// begins returns when the hours of the fake room begin next.
func (d *fakeDesk) begins() int64 { return d.start.Add(26 * time.Hour).UnixMilli() }

// announce does as the server: an announcement of no text is none.
func (d *fakeDesk) announce(body object) {
	d.support = nil
	given, _ := body["text"].(object)
	texts := list{}
	for _, lang := range []string{"ko", "en", "ja", "zh-Hans", "vi"} {
		if text, ok := given[lang]; ok {
			texts = append(texts, object{"lang": lang, "text": text})
		}
	}
	if len(texts) > 0 {
		until, _ := time.Parse(time.RFC3339, body["until"].(string))
		d.support = object{"announcement": object{"texts": texts, "level": body["level"]},
			"announced_until": until.UnixMilli()}
	}
}

func (d *fakeDesk) refuseNext(status int, code string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuse = object{"http": status, "code": code, "detail": "said by the server"}
}

func (d *fakeDesk) closeAll(code int) {
	d.mu.Lock()
	conns := make([]*websocket.Conn, 0, len(d.sockets))
	for conn := range d.sockets {
		conns = append(conns, conn)
	}
	d.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close(websocket.StatusCode(code), "")
	}
}

// asked returns the actions so far.
func (d *fakeDesk) asked() []call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

func (d *fakeDesk) lastAsked(t *testing.T) call {
	t.Helper()
	calls := d.asked()
	require.NotEmpty(t, calls)
	return calls[len(calls)-1]
}

func (d *fakeDesk) everOpened() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opened
}

func replica(name, store, ledger string) object {
	return object{"id": name, "name": "waitroom-" + name, "sockets": 1204, "rooms": 12, "watchers": 3,
		"store": store, "ledger": ledger,
		"draining": false, "started_at": time.Now().Add(-time.Hour).UnixMilli()}
}

func encode(frame any) []byte {
	encoded, err := json.Marshal(frame)
	if err != nil {
		panic(err)
	}
	return encoded
}
