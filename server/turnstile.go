package server

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"time"
)

const (
	turns       = 1               // for each processor: sockets that are being opened at a time
	turnsAsking = 8               // likewise, where each asks the store first who the seller is
	turnWithin  = 3 * time.Second // who has stood in line for so long goes in all the same, here as at the gate: nobody is refused for it
)

// turnstile lets few sockets be opened at a time. When a replica dies, thousands of browsers come to the next one within a
// second, and all that are let in stand before every other request in the scheduler's line. Here they wait asleep, those too whom the
// gate could not tell from others: on a connection that was used before, as proxies do, or with a long request. A request that wants no socket passes by.
type turnstile struct {
	next  http.Handler
	turns chan struct{}
}

func (s *Server) turnstile(next http.Handler) *turnstile {
	if s.cfg.SellerAuth == byToken {
		return newTurnstile(next, turnsAsking)
	}
	return newTurnstile(next, turns)
}

func newTurnstile(next http.Handler, perProcessor int) *turnstile {
	return &turnstile{next: next, turns: make(chan struct{}, perProcessor*runtime.GOMAXPROCS(0))}
}

// ServeHTTP answers nothing where the client has gone meanwhile.
func (t *turnstile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !opensSocket(r) {
		t.next.ServeHTTP(w, r)
		return
	}
	leave, ok := t.enter(r.Context())
	if !ok {
		return
	}
	defer leave()
	runtime.Gosched()      // whoever could go on when it was woken goes first
	t.next.ServeHTTP(w, r) // returns when the socket is open
}

// opensSocket is false of what only looks like it: a request that is read or answered slowly would keep a turn for that long.
func opensSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && strings.HasSuffix(r.URL.Path, "/ws")
}

// enter waits for a turn, first come first served; false where ctx ended first.
func (t *turnstile) enter(ctx context.Context) (leave func(), ok bool) {
	select {
	case t.turns <- struct{}{}:
		return t.leave, true
	default:
	}
	late := time.NewTimer(turnWithin)
	defer late.Stop()
	select {
	case t.turns <- struct{}{}:
		return t.leave, true
	case <-late.C:
		return func() {}, true
	case <-ctx.Done():
		return nil, false
	}
}

// leave lets everybody else go on before it wakes the next in line, who would inherit what is left of its time.
func (t *turnstile) leave() {
	runtime.Gosched()
	<-t.turns
}
