package admission

import (
	"context"
	"errors"
	"net"
	"net/http"
)

// FewFiles is a limit of open files that a busy room reaches, since each socket is a file.
const FewFiles = 4096

// reserveMost is how many of the last files are for probes and for the process's own connections; with a low
// limit it is a quarter.
const reserveMost = 64

var errFewFiles = errors.New("the last open files are kept for probes: raise the limit, or add a replica")

// reserved marks the context of connections that have one of the last files.
type reserved struct{}

// keepBack returns the number of the first reserved file, and how many connections may have one at a time.
// They may have half of the reserved files: the process's own connections need the others.
func keepBack(limit uint64) (first uint64, most int) {
	reserve := min(reserveMost, limit/4)
	return limit - reserve, int(reserve / 2)
}

// reserves reports whether a new connection has one of the last files. It returns ok false if as many
// connections as may have one (keepBack) have one already.
func (l *listener) reserves(c net.Conn) (last, ok bool) {
	if l.first == 0 || fileOf(c) < l.first {
		return false, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) >= l.most {
		return true, false
	}
	l.last[c] = true
	return true, true
}

// ConnContext has to be the server's ConnContext.
func (a *Admission) ConnContext(ctx context.Context, c net.Conn) context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last[c] {
		return context.WithValue(ctx, reserved{}, true)
	}
	return ctx
}

// Refuses reports whether a request came on one of the last files and has to be refused. Probes are answered:
// else a balancer would take the replica for dead, and cut the sockets that it has.
func Refuses(r *http.Request) bool {
	return onLast(r) && r.URL.Path != "/healthz" && r.URL.Path != "/readyz"
}

func onLast(r *http.Request) bool { return r.Context().Value(reserved{}) != nil }
