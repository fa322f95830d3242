package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// fault records a fault from its beginning to its end. during returns the evidence that it had an effect.
func (r *Run) fault(name string, taken []*replica, during func() (string, error)) error {
	return r.faultSince(r.history.Now(), name, taken, during)
}

// faultSince is fault for one that began earlier.
func (r *Run) faultSince(began Moment, name string, taken []*replica, during func() (string, error)) error {
	rec := Record{Kind: KindFault, Began: began, Fault: name}
	for _, p := range taken {
		rec.Replicas = append(rec.Replicas, p.name)
	}
	detail, err := during()
	rec.Detail = detail
	if err != nil {
		rec.Error = err.Error()
	}
	r.history.Add(rec)
	if err == nil {
		r.tb.Logf("%s: %s", name, detail)
	}
	return err
}

// errUnmet reports a fault that affected no client, so that the run proves nothing.
var errUnmet = errors.New("the fault never happened")

// felt counts what clients noticed since the n-th record: calls without an answer or with a temporary error,
// and broken sockets.
func (r *Run) felt(since int, of ...*replica) (n int) {
	for _, rec := range r.history.Since(since) {
		broken := rec.Kind == KindClose || rec.Kind == KindCall && (rec.Error != "" || rec.HTTP >= 500)
		if broken && (len(of) == 0 || rec.Replica == of[0].name) {
			n++
		}
	}
	return n
}

// slowest returns the longest call that ended since the n-th record.
func (r *Run) slowest(since int) (longest time.Duration) {
	for _, rec := range r.history.Since(since) {
		if rec.Kind == KindCall {
			longest = max(longest, time.Duration(rec.Ended.Mono-rec.Began.Mono)*time.Microsecond)
		}
	}
	return longest
}

// noticed returns the evidence that a client noticed a fault: errors, or a call that waited about as long. A
// waiting call is recorded only when it ends, so noticed looks for a while.
func (r *Run) noticed(ctx context.Context, since int, lasted time.Duration, of ...*replica) (string, error) {
	for range 10 {
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return "", err
		}
		if errors, slowest := r.felt(since, of...), r.slowest(since); errors > 0 || slowest >= lasted*2/3 {
			return fmt.Sprintf("%d calls and sockets broke, slowest call %s", errors, slowest.Round(time.Millisecond)),
				nil
		}
	}
	return "", fmt.Errorf("%w: no client noticed it (slowest call %s)", errUnmet, r.slowest(since))
}

func (r *Run) victim() *replica { return r.replicas[r.rng.IntN(len(r.replicas))] }

func (r *Run) upTo(d time.Duration) time.Duration { return time.Duration(r.rng.Int64N(int64(d))) }

// times repeats a fault, with load in between.
func times(ctx context.Context, n int, between func() time.Duration, do func() error) error {
	for i := range n {
		if i > 0 {
			if err := pause(ctx, between()); err != nil {
				return err
			}
		}
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// killReplica kills replicas one after the other, and starts each again.
func killReplica(n int) Step {
	return Step{"replicas killed", func(ctx context.Context, r *Run) error {
		return times(ctx, n, func() time.Duration { return time.Second + r.upTo(time.Second) }, func() error {
			p := r.victim()
			return r.fault("SIGKILL "+p.name, []*replica{p}, func() (string, error) {
				since := r.history.Len()
				r.askLast(ctx, p)
				p.process.Kill()
				if err := pause(ctx, 200*time.Millisecond+r.upTo(time.Second)); err != nil {
					return "", err
				}
				if err := p.start(); err != nil {
					return "", err
				}
				return r.noticed(ctx, since, patience, p)
			})
		})
	}}
}

// stopReplica stops a replica's process (SIGSTOP) and continues it.
func stopReplica(d time.Duration) Step {
	return Step{"a replica stopped for " + d.String(), func(ctx context.Context, r *Run) error {
		p := r.victim()
		return r.fault("SIGSTOP "+p.name, []*replica{p}, func() (string, error) {
			since := r.history.Len()
			p.process.Signal(syscall.SIGSTOP)
			err := pause(ctx, d)
			p.process.Signal(syscall.SIGCONT)
			if err != nil {
				return "", err
			}
			return r.noticed(ctx, since, d)
		})
	}}
}

// way returns the link that a plan names, and the replicas that use it.
func (p *replica) way(which string) (*link, []*replica, error) {
	if which == "front" {
		return p.front, []*replica{p}, nil
	}
	if p.back == nil {
		return nil, nil, fmt.Errorf("%s has no one link to Redis", p.name)
	}
	return p.back, []*replica{p}, nil
}

// onLink disturbs one replica's link for a while.
func onLink(name, which string, d time.Duration, harm func(*link) error) Step {
	return Step{name, func(ctx context.Context, r *Run) error {
		p := r.victim()
		l, taken, err := p.way(which)
		if err != nil {
			return err
		}
		return r.fault(name+" of "+p.name, taken, func() (string, error) {
			since := r.history.Len()
			err := harm(l)
			if err == nil {
				err = pause(ctx, d)
			}
			if err := errors.Join(err, l.Heal()); err != nil {
				return "", err
			}
			return r.noticed(ctx, since, 150*time.Millisecond)
		})
	}}
}

func cut(which string, d time.Duration) Step {
	return onLink("link "+which+" cut for "+d.String(), which, d, func(l *link) error { l.Cut(); return nil })
}

func hang(which string, d time.Duration, directions ...string) Step {
	name := fmt.Sprintf("link %s loses %s for %s", which, strings.Join(directions, " and "), d)
	return onLink(name, which, d, func(l *link) error { return l.Hang(directions...) })
}

func slow(which string, d, delay time.Duration) Step {
	return onLink(fmt.Sprintf("link %s slowed by %s for %s", which, delay, d), which, d,
		func(l *link) error { return l.Slow(delay) })
}
