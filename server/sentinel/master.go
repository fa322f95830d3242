package sentinel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	othersWithin = 500 * time.Millisecond // the first answers are compared, if they come this soon after the first of them
	forgetAfter  = time.Minute            // who cannot be asked for so long is not believed any more
)

// master is who the sentinels say it is.
type master struct {
	cfg  Config
	work sync.WaitGroup // who watches the sentinels

	mu      sync.Mutex
	answers map[string]answer // by the sentinel's address; those watched
	addr    string            // "" = nobody has named one
	moved   chan struct{}     // closed when somebody names another one
	conns   map[*conn]struct{}
	known   chan struct{} // closed when somebody has named one
	asked   chan struct{} // closed when each sentinel of the configuration has answered or failed
	left    int           // of them
}

// answer is what a sentinel last said.
type answer struct {
	epoch int64 // of the failover that made it master: the higher one is the later
	addr  string
	err   error // why it could not be asked, since
	since time.Time
}

func newMaster(c Config) *master {
	c.Addrs = slices.Compact(slices.Sorted(slices.Values(c.Addrs)))
	return &master{cfg: c, answers: make(map[string]answer), conns: make(map[*conn]struct{}), known: make(chan struct{}), asked: make(chan struct{}), left: len(c.Addrs)}
}

// where is the master's address, until it has moved. At first all sentinels are waited for: one of them may
// be behind.
func (m *master) where(ctx context.Context) (addr string, moved <-chan struct{}, err error) {
	select {
	case <-m.asked:
	case <-m.known:
		select {
		case <-m.asked:
		case <-time.After(othersWithin):
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.addr == "" {
		return "", nil, m.unknown()
	}
	return m.addr, m.moved, nil
}

// unknown says why nobody named a master.
func (m *master) unknown() error {
	var errs []error
	for sentinel, a := range m.answers {
		if a.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", sentinel, a.err))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, context.DeadlineExceeded)
	}
	return fmt.Errorf("none of the sentinels %s names the master %s: %w", strings.Join(m.cfg.Addrs, ", "), m.cfg.Master, errors.Join(errs...))
}

// hear takes in what a sentinel said, or that it could not be asked.
func (m *master) hear(sentinel string, epoch int64, addr string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	a, heard := m.answers[sentinel]
	switch {
	case err == nil:
		a = answer{epoch: epoch, addr: addr}
	case a.err == nil:
		a.err, a.since = err, now
	}
	m.answers[sentinel] = a
	if found := newest(m.answers, now); found != "" && found != m.addr {
		m.move(found)
	}
	if !heard && slices.Contains(m.cfg.Addrs, sentinel) {
		if m.left--; m.left == 0 {
			close(m.asked)
		}
	}
}

// newest is the address that the latest failover led to; "" where nobody knows one. Where two are named for
// the same failover, since sentinels call the master by names of their own or were set up apart, every
// process goes to the same of them, and stays there.
func newest(answers map[string]answer, now time.Time) string {
	var best answer
	for _, a := range answers {
		if a.addr == "" || a.err != nil && now.Sub(a.since) > forgetAfter {
			continue
		}
		if best.addr == "" || a.epoch > best.epoch || a.epoch == best.epoch && a.rather(best) {
			best = a
		}
	}
	return best.addr
}

// rather tells which of two of the same failover counts: who can be asked now, and then whichever every
// process takes.
func (a answer) rather(b answer) bool {
	if (a.err == nil) != (b.err == nil) {
		return a.err == nil
	}
	return a.addr < b.addr
}

// move closes what is connected elsewhere: who waits there for an answer asks the new master.
func (m *master) move(addr string) {
	if m.addr == "" {
		close(m.known)
	} else if m.cfg.Log != nil {
		m.cfg.Log.Warn("the sentinels name another master", "master", m.cfg.Master, "before", m.addr, "now", addr)
	}
	if m.moved != nil {
		close(m.moved)
	}
	m.addr, m.moved = addr, make(chan struct{})
	for c := range m.conns {
		_ = c.TCPConn.Close()
	}
	clear(m.conns)
}

// gone forgets a sentinel that another one named and that has not answered for long: it may never come back.
// Where it is named still, it is watched anew.
func (m *master) gone(sentinel string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.answers[sentinel]
	if a.err == nil || time.Since(a.since) <= forgetAfter || slices.Contains(m.cfg.Addrs, sentinel) {
		return false
	}
	delete(m.answers, sentinel)
	return true
}

// hold keeps a connection until the master moves; false if it has moved already.
func (m *master) hold(c *conn, addr string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if addr != m.addr {
		return false
	}
	m.conns[c] = struct{}{}
	return true
}

func (m *master) drop(c *conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.conns, c)
}
