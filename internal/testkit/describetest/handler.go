package describetest

import (
	"bufio"
	"cmp"
	"net"
	"net/http"
	"sync"
	"testing"
)

// mostBody is how much of an answer is kept. A longer one is no JSON of ours.
const mostBody = 4 << 20

// faults are the faults found while a test runs. Goroutines that the test does not wait for may give answers,
// so the faults are reported at its end.
type faults struct {
	mu   sync.Mutex
	list []error
}

// found starts a list that fails the test at its end. Cleanups registered after it have run by then.
func found(t testing.TB) *faults {
	f := &faults{}
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, err := range f.list {
			t.Error(err)
		}
	})
	return f
}

func (f *faults) add(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.list) < 20 {
		f.list = append(f.list, err)
	}
}

// Handler serves as next does, and fails the test at its end where an answer was not as described.
func (r *Recorder) Handler(t testing.TB, next http.Handler) http.Handler {
	f := found(t)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		method, path := q.Method, q.URL.Path
		c := &copier{ResponseWriter: w}
		next.ServeHTTP(c, q) // a panic passes: such an answer broke off
		switch {
		case c.hijacked:
			f.add(r.Answer(method, path, http.StatusSwitchingProtocols, c.Header(), nil))
		case len(c.body) < mostBody:
			f.add(r.Answer(method, path, cmp.Or(c.status, http.StatusOK), c.Header(), c.body))
		}
	})
}

// copier keeps a copy of an answer.
type copier struct {
	http.ResponseWriter
	status   int
	body     []byte
	hijacked bool
}

func (c *copier) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *copier) Write(p []byte) (int, error) {
	if len(c.body) < mostBody {
		c.body = append(c.body, p...)
	}
	return c.ResponseWriter.Write(p)
}

// Flush is for a stream of rows.
func (c *copier) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

// Hijack is for a socket.
func (c *copier) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(c.ResponseWriter).Hijack()
	c.hijacked = err == nil
	return conn, buffered, err
}

// Unwrap is for http.ResponseController.
func (c *copier) Unwrap() http.ResponseWriter { return c.ResponseWriter }
