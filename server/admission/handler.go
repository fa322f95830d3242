package admission

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"time"
)

const (
	slots     = 1 // for each processor: sockets that are being opened at a time
	slotsSlow = 8 // likewise, where each asks the store first

	// queuedWithin is how long a socket is held back, here and by the listener. Then it is let in: none is
	// refused.
	queuedWithin = 3 * time.Second
)

// handler opens few sockets at a time: each admitted one comes before other requests in the scheduler's
// queue. The rest sleep here, also those that the listener could not recognise: upgrades on a reused
// connection, as proxies send them, or with a long request. Other requests pass without waiting.
type handler struct {
	next  http.Handler
	slots chan struct{}
}

func newHandler(next http.Handler, slots int) *handler {
	return &handler{next: next, slots: make(chan struct{}, slots)}
}

// ServeHTTP answers nothing where the client has gone meanwhile.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !opensSocket(r) {
		h.next.ServeHTTP(w, r)
		return
	}
	leave, ok := h.enter(r.Context())
	if !ok {
		return
	}
	defer leave()
	runtime.Gosched()      // goroutines that could go on when this one was woken go first
	h.next.ServeHTTP(w, r) // returns when the socket is open
}

// opensSocket is false of a request that only looks like it: read or answered slowly, it would keep its slot
// for that long.
func opensSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		strings.HasSuffix(r.URL.Path, "/ws")
}

// enter waits for a slot, first come first served; false where ctx ended first.
func (h *handler) enter(ctx context.Context) (leave func(), ok bool) {
	select {
	case h.slots <- struct{}{}:
		return h.leave, true
	default:
	}
	late := time.NewTimer(queuedWithin)
	defer late.Stop()
	select {
	case h.slots <- struct{}{}:
		return h.leave, true
	case <-late.C:
		return func() {}, true
	case <-ctx.Done():
		return nil, false
	}
}

// leave lets other goroutines go on before it wakes the next one, which would inherit what is left of its
// time.
func (h *handler) leave() {
	runtime.Gosched()
	<-h.slots
}
