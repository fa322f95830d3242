package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
)

const (
	outageEvery = time.Minute
	outageOver  = 30 * time.Second // without a line of it
)

// outageLog passes one line a minute of an outage on: its parts try again every second, and each says so.
// A line belongs to an outage where its own error is that a store cannot be reached; all others pass.
type outageLog struct {
	slog.Handler
	said *outageSaid
}

// outageSaid is what all loggers of one process have said of an outage.
type outageSaid struct {
	mu      sync.Mutex
	passed  time.Time // the last line that was passed on
	last    time.Time // the last line
	leftOut int       // since passed
}

func newOutageLog(log *slog.Logger) *slog.Logger {
	return slog.New(outageLog{log.Handler(), &outageSaid{}})
}

// Handle implements slog.Handler.
func (h outageLog) Handle(ctx context.Context, r slog.Record) error {
	if !ofOutage(r) {
		return h.Handler.Handle(ctx, r)
	}
	pass, leftOut := h.said.line(r.Time)
	if !pass {
		return nil
	}
	if leftOut > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("left_out", leftOut))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h outageLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return outageLog{h.Handler.WithAttrs(attrs), h.said}
}

// WithGroup implements slog.Handler.
func (h outageLog) WithGroup(name string) slog.Handler {
	return outageLog{h.Handler.WithGroup(name), h.said}
}

// line reports whether a line of now passes, and how many were left out before it.
func (s *outageSaid) line(now time.Time) (pass bool, leftOut int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := now.Sub(s.last) >= outageOver
	s.last = now
	if !began && now.Sub(s.passed) < outageEvery {
		s.leftOut++
		return false, 0
	}
	leftOut = s.leftOut
	s.passed, s.leftOut = now, 0
	return true, leftOut
}

func ofOutage(r slog.Record) (of bool) {
	if r.Level < slog.LevelWarn {
		return false
	}
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && a.Key == "error" {
			of = sqldb.OfConnection(err)
		}
		return !of
	})
	return of
}
