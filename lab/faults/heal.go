package faults

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Bounds of how fast all must be well again after a fault was healed. What it really took is in the history.
const (
	servesWithin = 10 * time.Second
	trueWithin   = 10 * time.Second
)

// recovered waits until every replica serves every room again and every socket has at least the version that
// the room then had. It records how long each took.
func (r *Run) recovered(ctx context.Context, step string) {
	began := time.Now()
	probe := r.session(r.rng)
	truth := map[string]lineage{}
	for _, p := range r.replicas {
		for _, room := range r.rooms {
			err := until(servesWithin, func() error {
				got, err := p.do(ctx, call{method: http.MethodGet, path: "/api/" + room + "/lock/status", session: probe})
				if err == nil && got.http != http.StatusOK {
					err = fmt.Errorf("status %d %s", got.http, got.Code)
				}
				if l := (lineage{got.Epoch, got.Version}); err == nil && l.beyond(truth[room]) {
					truth[room] = l
				}
				return err
			})
			if err != nil {
				r.trouble(NoService, "%s: %s of %s: %v", step, p.name, room, err)
			}
		}
	}
	served := time.Since(began)
	err := until(trueWithin, func() error { return r.behind(ctx, truth) })
	if err != nil {
		r.trouble(SocketBehind, "%s: %v", step, err)
	}
	r.history.Note("%s: every replica serves after %d ms, every socket is true after %d ms", step,
		served.Milliseconds(), time.Since(began).Milliseconds())
}

// behind returns the sockets that do not have a version yet and show another state than the API. A version
// need not change every seller's state.
func (r *Run) behind(ctx context.Context, truth map[string]lineage) error {
	n, which := 0, ""
	for _, s := range r.sellers {
		if s.socket == nil {
			continue
		}
		last, _, ok := s.socket.now()
		if ok && !truth[s.room].beyond(lineage{last.Epoch, last.Version}) {
			continue
		}
		got, err := r.doors[0].do(ctx, s.status())
		me := got.mine("status")
		if ok && err == nil && me.Epoch == last.Epoch && me.Status == last.Status && me.Fence == last.Fence &&
			me.Position == last.Position {
			continue
		}
		n++
		which = fmt.Sprintf("%s in %s is sent %s at version %d of epoch %d by its socket, and %s at version %d "+
			"of epoch %d when it asks (connected: %t, error: %v)",
			s.name, s.room, last.Status, last.Version, last.Epoch, me.Status, me.Version, me.Epoch, ok, err)
	}
	if n > 0 {
		return fmt.Errorf("%d sockets are behind: %s", n, which)
	}
	return nil
}

// settled compares, once there is no more load, each socket's last frame with the API's answer to its
// session.
func (r *Run) settled(ctx context.Context) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, trueWithin)
	defer cancel()
	err := until(trueWithin, func() error {
		for _, s := range r.sellers {
			if err := s.settled(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.trouble(SocketBehind, "in the end: %v", err)
	}
	r.history.Note("in the end every socket is true after %d ms", time.Since(began).Milliseconds())
}

func (s *seller) settled(ctx context.Context) error {
	if s.socket == nil {
		return nil
	}
	me, err := s.insist(ctx, s.status())
	if err != nil {
		return fatal{err}
	}
	last, _, ok := s.socket.now()
	if !ok || last.Status != me.Status || last.Outcome != me.Outcome {
		return fmt.Errorf("%s in %s was sent %s %s by its socket, and %s %s when it asked (connected: %t)",
			s.name, s.room, last.Status, last.Outcome, me.Status, me.Outcome, ok)
	}
	return nil
}

// metrics returns a replica's /metrics.
func (p *replica) metrics(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.addr+"/metrics", nil)
	if err != nil {
		return "", err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}
