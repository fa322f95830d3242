package faults

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// replaceReplicas stops and restarts each replica in turn, as an upgrade does. Meanwhile n sellers wait with
// a socket each and requests are sent without pause. No lease may be lost, no request dropped, no seller be
// without a socket for long, and at the end every seller has its place.
func replaceReplicas(n int) Step {
	return Step{fmt.Sprintf("replicas replaced one by one under %d sockets", n),
		func(ctx context.Context, r *Run) (err error) {
			t := r.startTraffic(ctx)
			defer t.halt()
			w, err := r.gather(ctx, n)
			if w != nil {
				defer func() { err = errors.Join(err, w.leave(ctx)) }()
			}
			for _, p := range r.replicas {
				if err != nil {
					return err
				}
				err = r.replace(ctx, p, w, t)
			}
			if err := until(trueWithin, w.inOrder); err != nil {
				r.trouble(SocketBehind, "in the end: %v", err)
			}
			return err
		}}
}

// replace replaces one replica in the middle of a lease.
func (r *Run) replace(ctx context.Context, p *replica, w *waiters, t *traffic) error {
	before, err := w.handOn(ctx)
	if err != nil {
		return err
	}
	since := r.history.Len()
	w.look()
	t.look()
	err = r.fault("SIGTERM "+p.name, nil, func() (string, error) {
		r.askLast(ctx, p)
		began := time.Now()
		p.process.Stop(syscall.SIGTERM)
		ended := time.Since(began)
		if err := p.start(); err != nil {
			return "", err
		}
		return fmt.Sprintf("gone after %d ms", ended.Milliseconds()), r.sameLease(ctx, w, before)
	})
	if err == nil {
		err = pause(ctx, 2500*time.Millisecond)
	}
	if err != nil {
		return err
	}
	if err := until(patience, w.allThere); err != nil {
		r.trouble(SocketBehind, "after %s was replaced: %v", p.name, err)
	}
	lost, refused, longest, again := w.look()
	if lost == 0 {
		return fmt.Errorf("%w: no waiter had its socket on %s", errUnmet, p.name)
	}
	r.note("%s replaced: %d waiters lost their socket and were back within %d ms; %d tries were refused", p.name,
		lost, max(longest, again).Milliseconds(), len(refused))
	if len(refused) > 0 {
		r.note("such as %s", refused[0])
	}
	r.onlyBriefly(p.name, longest, awayFor)
	r.onlyBriefly(p.name, again, awayFor+backFirst)
	r.heldTogether(p.name, since, t)
	return nil
}

// sameLease requires that the lease has not changed.
func (r *Run) sameLease(ctx context.Context, w *waiters, before lease) error {
	now, err := w.held(ctx)
	if time.Now().UnixMilli() >= before.expires {
		return fmt.Errorf("%w: the lease was over before it could be looked at", errUnmet)
	}
	if err != nil || now.fence != before.fence || now.expires != before.expires {
		r.trouble(LostUnasked, "ticket %d held fence %d until %d, and then it was fence %d until %d (%v)",
			before.ticket, before.fence, before.expires, now.fence, now.expires, err)
	}
	return nil
}

// awayFor is how long a replaced replica may leave a seller without a socket. A seller whose first reconnect
// is cut off, as the balancer removes the replica, waits once more.
const awayFor = 2 * time.Second

func (r *Run) onlyBriefly(what string, longest, most time.Duration) {
	if longest > most {
		r.trouble(SocketBehind, "a seller was without a socket for %s while %s was replaced", longest, what)
	}
}

// heldTogether requires that since the n-th record no request was dropped and no seller was without a socket
// for long.
func (r *Run) heldTogether(what string, since int, t *traffic) {
	closed := map[string]int64{}
	answered, dropped := t.look()
	longest := time.Duration(0)
	for _, rec := range r.history.Since(since) {
		switch rec.Kind {
		case KindCall:
			if rec.Error == "" && rec.HTTP < 500 {
				answered++
			} else {
				dropped = append(dropped, fmt.Sprintf("%s: %d %s", rec.Op, rec.HTTP, rec.Error))
			}
		case KindClose:
			closed[rec.Session] = rec.Ended.Mono
		case KindOpen:
			if at, ok := closed[rec.Session]; ok {
				longest = max(longest, time.Duration(rec.Ended.Mono-at)*time.Microsecond)
			}
		}
	}
	r.note("%s replaced: %d requests answered, %d dropped; sellers were without a socket for %d ms at the most",
		what, answered, len(dropped), longest.Milliseconds())
	if len(dropped) > 0 {
		r.trouble(RequestDropped, "%d of %d requests were dropped while %s was replaced, such as %s", len(dropped),
			len(dropped)+answered, what, dropped[0])
	}
	r.onlyBriefly(what, longest, awayFor)
}

// note records a measured value and prints it.
func (r *Run) note(format string, args ...any) {
	r.history.Note(format, args...)
	r.tb.Logf(format, args...)
}
