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
	// answers that arrive this soon after the first one are compared with it
	othersWithin = 500 * time.Millisecond
	forgetAfter  = time.Minute // an unreachable sentinel's answer expires after this
)

// master tracks the master that the sentinels name.
type master struct {
	cfg  Config
	work sync.WaitGroup // the watchers of the sentinels

	mu      sync.Mutex
	answers map[string]answer // by address of the watched sentinels
	addr    string            // "" = not named yet
	moved   chan struct{}     // closed when another one is named
	conns   map[*conn]struct{}
	known   chan struct{} // closed once one is named
	asked   chan struct{} // closed once each configured sentinel has answered or failed
	left    int           // configured sentinels that have not answered or failed yet
}

// answer is a sentinel's last answer.
type answer struct {
	epoch int64 // of the master's failover: the higher one is the later
	addr  string
	err   error     // why it has not answered since; nil if it has
	since time.Time // when that began
}

func newMaster(c Config) *master {
	c.Addrs = slices.Compact(slices.Sorted(slices.Values(c.Addrs)))
	return &master{cfg: c, answers: make(map[string]answer), conns: make(map[*conn]struct{}),
		known: make(chan struct{}), asked: make(chan struct{}), left: len(c.Addrs)}
}

// where returns the master's address, valid until moved is closed. At first it waits for all sentinels: one
// of them may lag.
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

// unknown returns why no master is known.
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
	return fmt.Errorf("none of the sentinels %s names the master %s: %w", strings.Join(m.cfg.Addrs, ", "),
		m.cfg.Master, errors.Join(errs...))
}

// record stores a sentinel's answer, or its failure.
func (m *master) record(sentinel string, epoch int64, addr string, err error) {
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

// newest returns the address of the latest failover; "" without one. Sentinels with separate setups may name
// two masters of one epoch. Every process then picks the same one, and stays there.
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

// rather reports whether a beats b at the same epoch. A reachable sentinel's answer comes first, then a fixed
// order.
func (a answer) rather(b answer) bool {
	if (a.err == nil) != (b.err == nil) {
		return a.err == nil
	}
	return a.addr < b.addr
}

// move closes connections to other addresses: their callers retry on the new master.
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

// gone forgets a discovered sentinel that has been silent for over forgetAfter, and reports whether it did.
// If another sentinel still names it, it is watched again.
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

// hold tracks a connection until the master moves; it returns false if the master has moved already.
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
