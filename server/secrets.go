package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
)

const (
	unreadableLogged = time.Minute      // one line in so long
	unreadableFor    = 10 * time.Minute // how long /readyz shows it: as long as a message is kept
)

var errUnreadable = errors.New("a text is sealed with a secret that this replica does not have")

// secrets knows whether this replica can open what the other replicas seal. It is safe for concurrent use.
type secrets struct {
	log   *slog.Logger
	tell  func(room.ID) // reports it to support
	count prometheus.Counter

	mu           sync.Mutex
	last, logged time.Time
}

func newSecrets(log *slog.Logger, r prometheus.Registerer, tell func(room.ID)) *secrets {
	s := &secrets{log: log, tell: tell, count: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "waitroom_unreadable_total",
		Help: "Messages and asks that this replica could not open, since another secret has sealed them.",
	})}
	r.MustRegister(s.count)
	return s
}

// unreadable records that a sealed text of a room could not be opened.
func (s *secrets) unreadable(id room.ID) {
	s.count.Inc()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
	if s.last.Sub(s.logged) < unreadableLogged {
		return
	}
	s.logged = s.last
	s.log.Error("cannot open a message or an ask: another replica sealed it with a secret that this one does "+
		"not have; give all replicas the same SMS_WEBHOOK_SECRET and sms_secret", "room", id)
	go s.tell(id) // a call of the engine may be under way
}

// tellSupport reports to support that this replica could not open a text of a room.
func (s *Server) tellSupport(id room.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	_ = s.engine.Incident(ctx, id, "secrets_differ", s.replicaName(),
		"a replica cannot open what another one sealed: their SMS secrets differ")
}

// agree returns an error for ten minutes after a text could not be opened.
func (s *secrets) agree(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last.IsZero() && time.Since(s.last) < unreadableFor {
		return errUnreadable
	}
	return nil
}
