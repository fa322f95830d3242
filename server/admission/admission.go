// Package admission lets a server take thousands of new sockets within a second and answer all other requests
// meanwhile.
//
// When a replica dies, its browsers come to the next one. A listener hands over few connections at a time
// that ask for a socket, a handler opens few sockets at a time, and the garbage collector runs seldom in a
// small heap.
package admission

import (
	"context"
	"net"
	"net/http"
	"runtime"
)

// perSlot is how many connections, for each slot of the handler, the listener hands over before their sockets
// are open.
const perSlot = 2

// Config configures an Admission.
type Config struct {
	Listener net.Listener
	Handler  http.Handler
	Slow     bool        // to open a socket takes a question to the store first: more are opened at a time
	Failed   func(error) // the listener can accept no connection for a moment; Failed must not block
}

// Admission is the listener and the handler of an http.Server.
type Admission struct {
	*listener
	handler *handler
	tuner   *gcTuner
}

// New returns an admission, which accepts no connection before Run.
func New(c Config) *Admission {
	each := slots
	if c.Slow {
		each = slotsSlow
	}
	h := newHandler(c.Handler, each*runtime.GOMAXPROCS(0))
	return &Admission{newListener(c.Listener, perSlot*cap(h.slots), c.Failed), h, newGCTuner()}
}

// Run accepts connections until the listener is closed, and tunes the garbage collector until ctx ends. It
// returns when both have ended, with the error of ctx.
func (a *Admission) Run(ctx context.Context) error {
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		a.run()
	}()
	err := a.tuner.run(ctx)
	<-accepting
	return err
}

// ServeHTTP passes a request on: one that asks for a socket in its turn, every other one at once. The handler
// has to refuse those that Refuses names.
func (a *Admission) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !onLast(r) {
		a.handler.ServeHTTP(w, r)
		return
	}
	if Refuses(r) {
		a.failed(errFewFiles)
	}
	w.Header().Set("Connection", "close")
	a.handler.next.ServeHTTP(w, r)
}

// ConnState has to be the server's ConnState. It frees a connection's slot when the connection is taken over,
// its request is refused, or the client has gone.
func (a *Admission) ConnState(c net.Conn, s http.ConnState) { a.state(c, s) }
