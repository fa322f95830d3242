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

// handler opens few sockets at a time, so that the other requests do not wait behind them in the scheduler's
// queue.
//
// The rest wait here, also upgrades that the listener could not recognise: on a reused connection, as proxies
// send them, or with a long request. Other requests do not wait.
type handler struct {
	next  http.Handler
	slots chan struct{}
}

func newHandler(next http.Handler, slots int) *handler {
	return &handler{next: next, slots: make(chan struct{}, slots)}
}

// ServeHTTP answers nothing if the client has gone meanwhile.
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

// opensSocket reports whether a request opens a socket. It returns false for a request that only looks like
// one, since a slow request or answer would keep a slot for its whole time.
func opensSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		strings.HasSuffix(r.URL.Path, "/ws")
}

// enter waits for a slot, first come first served; it returns false if ctx ended first.
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

// leave lets other goroutines run before it wakes the next one, which would otherwise inherit the rest of
// this one's time slice.
func (h *handler) leave() {
	runtime.Gosched()
	<-h.slots
}
