package crowd

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	firstBackoff = time.Second // at most, of the first try
	maxBackoff   = 20 * time.Second
)

// line is a session's connection. It reconnects to another replica whenever it breaks. Only one goroutine may
// use it.
type line struct {
	c       *crowd
	hall    *hall
	rng     *rand.Rand
	session string
	replica int // where the next one goes

	view *View
	mu   sync.Mutex // sock is interrupted by others
	sock *Socket
}

// news is one frame.
type news struct {
	state State // where kind is kindState
	kind  string
	sms   smsFrame
}

// base returns the replica for the next request or connection.
func (l *line) base() string {
	l.replica++
	return l.c.cfg.URLs[l.replica%len(l.c.cfg.URLs)]
}

// connect returns true once a socket is open. It returns false if ctx has ended or the server said not to
// reconnect.
func (l *line) connect(ctx context.Context) bool {
	for most := firstBackoff; ctx.Err() == nil; most = min(2*most, maxBackoff) {
		dialing, cancel := context.WithTimeout(ctx, requestTimeout)
		sock, err := l.c.dialer.Dial(dialing, l.base(), l.hall.id, l.session)
		cancel()
		if err == nil {
			l.set(sock)
			l.view = l.hall.model.Watch(l.session, time.Now())
			l.c.stats.socket(1)
			return true
		}
		if !over(ctx) {
			l.c.stats.failed("socket: " + briefly(err))
		}
		pause(ctx, time.Duration(l.rng.Int64N(int64(most))))
	}
	return false
}

func (l *line) set(sock *Socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sock = sock
}

// drop closes the connection.
func (l *line) drop() {
	if l.sock == nil {
		return
	}
	_ = l.sock.Close()
	l.set(nil)
	l.view.Close(time.Now())
	l.c.stats.socket(-1)
}

// interrupt ends a read in progress; other goroutines may call it.
func (l *line) interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sock != nil {
		l.sock.Interrupt()
	}
}

// next reads until there is news or the deadline passes (ErrTimeout). Any other error has closed the
// connection; a *CloseError whose Again is false is final.
func (l *line) next(ctx context.Context, deadline time.Time) (news, error) {
	for {
		text, err := l.sock.readIn(ctx, deadline)
		if err != nil {
			if errors.Is(err, ErrTimeout) {
				return news{}, err
			}
			if !over(ctx) {
				l.c.stats.failed("socket: " + briefly(err))
			}
			l.drop()
			return news{}, err
		}
		switch kind := kindOf(text); kind {
		case kindState:
			s, now := parseState(text), time.Now()
			l.c.heard(s.ServerTime, now)
			l.view.See(s, now)
			return news{state: s, kind: kind}, nil
		case kindPing:
			_ = l.sock.Pong()
		case kindSMS:
			if frame, err := parseSMS(text); err == nil {
				return news{sms: frame, kind: kind}, nil
			}
		}
	}
}

// readIn is Read that also ends when ctx ends.
func (s *Socket) readIn(ctx context.Context, deadline time.Time) ([]byte, error) {
	if far := time.Now().Add(time.Minute); deadline.IsZero() || deadline.After(far) {
		deadline = far // what an interrupt has missed
	}
	if ctx.Err() != nil {
		return nil, ErrTimeout
	}
	return s.Read(deadline)
}

// tab is one more page of a session, which only reads.
func (l *line) tab(ctx context.Context) {
	defer l.drop()
	for ctx.Err() == nil {
		if l.sock == nil && !l.connect(ctx) {
			return
		}
		if _, err := l.next(ctx, time.Time{}); forGood(err) {
			return
		}
	}
}

// forGood reports whether the server said not to reconnect.
func forGood(err error) bool {
	closed, ok := errors.AsType[*CloseError](err)
	return ok && closed.Code >= 4500
}

// briefly returns an error without addresses, so that equal errors can be counted.
func briefly(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}

// over reports whether ctx has ended or is about to, since a call with its deadline may fail slightly
// earlier.
func over(ctx context.Context) bool {
	deadline, bounded := ctx.Deadline()
	return ctx.Err() != nil || bounded && time.Until(deadline) <= 0
}

// pause waits; it returns false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
