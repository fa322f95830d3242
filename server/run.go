package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/server/admission"
)

// Run serves until ctx ends or a required part fails, and drains.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close()
	keep, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	background, failed := errgroup.WithContext(keep)
	background.Go(func() error { return unlessEnded(failed, "sockets", s.hub.Run(failed)) })
	background.Go(func() error { return unlessEnded(failed, "sweep", s.sweep(failed)) })
	background.Go(func() error { return unlessEnded(failed, "ledger", s.ledger.Run(failed)) })
	if !s.cfg.Redis.Embedded() { // else it is the only replica
		background.Go(func() error { return unlessEnded(failed, "settings", s.settings.Run(failed)) })
	}
	if s.near != nil {
		background.Go(func() error { return unlessEnded(failed, "near", s.near.Run(failed)) })
	}
	background.Go(func() error { return unlessEnded(failed, "admission", s.admission.Run(failed)) })
	if s.cfg.RoomsFile != "" {
		background.Go(func() error { return s.reload(failed) })
	}
	if s.outbox != nil {
		background.Go(func() error { return unlessEnded(failed, "outbox", s.outbox.Run(failed)) })
	}

	served := make(chan struct{})
	background.Go(func() error {
		defer close(served)
		err := s.http.Serve(s.admission)
		if s.health.draining.Load() {
			return nil
		}
		return fmt.Errorf("serve: %w", err)
	})
	if s.metrics != nil {
		background.Go(func() error { return unlessEnded(failed, "metrics", s.metrics.run()) })
	}
	s.announce()
	s.warnOfSenders(ctx)
	s.welcome(ctx)

	select {
	case <-ctx.Done():
		s.log.Info("shutting down", "within", s.cfg.DrainTimeout.String())
	case <-failed.Done():
		s.log.Error("shutting down: something that everything rests on has ended", "within",
			s.cfg.DrainTimeout.String())
	}
	s.drain(served)
	stop()
	if s.metrics != nil {
		s.metrics.close()
	}
	err := background.Wait()
	s.recordRest()
	s.log.Info("stopped")
	return err
}

// unlessEnded returns a part's error unless ctx ended the part.
func unlessEnded(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		err = errors.New("ended by itself")
	}
	return fmt.Errorf("%s: %w", what, err)
}

// sweep checks the rooms that no replica checks otherwise.
func (s *Server) sweep(ctx context.Context) error {
	failures := newThrottledLog(s.log, 10*time.Second)
	return s.engine.Sweep(ctx, s.looked, func(err error) {
		failures.failed("rooms could not be looked at",
			err)
	})
}

// drain disconnects clients in the order in which they can reconnect elsewhere. Readiness fails first; then
// the sockets are closed to reconnect, and new ones are refused; then running requests are answered. Until
// the sockets are gone, and for MIN_DRAIN, requests are served, so that balancers see the readiness. Served
// is closed once no connection is accepted any more.
func (s *Server) drain(served <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(),
		max(s.cfg.DrainTimeout-s.restWithin(), s.cfg.MinDrain))
	defer cancel()
	s.health.draining.Store(true)
	balanced := time.After(s.cfg.MinDrain)
	if err := s.hub.Drain(ctx); err != nil {
		s.log.Warn("not every socket could be closed with a reason", "error", err)
	}
	<-balanced
	s.http.SetKeepAlivesEnabled(false)
	_ = s.listener.Close()
	<-served
	if err := s.http.Shutdown(ctx); err != nil && !errors.Is(err, http.ErrServerClosed) {
		s.log.Warn("requests were cut off", "error", err)
		_ = s.http.Close()
	}
}

// recordRest records the remaining journals of a store that ends with this process. No other writer is left.
func (s *Server) recordRest() {
	within := s.restWithin()
	if within == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	rooms, err := s.engine.Journals(ctx)
	if err == nil {
		err = s.ledger.DrainAll(ctx, rooms)
	}
	if err != nil {
		s.log.Error("what happened last is not in the ledger, and the embedded store forgets it", "error",
			err)
	}
}

// restWithin is the part of DRAIN_TIMEOUT reserved for recordRest: none if the store keeps its journals for
// other replicas.
func (s *Server) restWithin() time.Duration {
	if !s.cfg.Redis.Embedded() {
		return 0
	}
	return s.cfg.DrainTimeout / 4
}

// announce logs the server's address and the operator's first steps.
func (s *Server) announce() {
	for _, name := range slices.Sorted(maps.Keys(s.cfg.Unknown)) {
		s.log.Warn("unknown setting is ignored", "name", name, "do", s.cfg.Unknown[name])
	}
	if limit := admission.FileLimit(); limit > 0 && limit < admission.FewFiles {
		s.log.Warn("few files may be open, and each socket is one: raise the limit to 65536 (LimitNOFILE= of "+
			"systemd, ulimit -n)", "limit", limit)
	}
	s.log.Info("waitroom is open at "+s.URL(), "addr", s.Addr(), "store", s.cfg.Redis.String(), "rooms",
		s.cfg.Rooms.String())
	if s.cfg.Redis.Embedded() {
		s.log.Info("the embedded store serves one replica and loses all places when it ends; set " +
			"WAITROOM_REDIS_URL to keep places over a restart")
	}
}
