package server

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/server/tracing"
)

// NewLog returns the log of LOG_FORMAT and LOG_LEVEL. With tracing, a line has its trace's id.
func (c Config) NewLog(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if c.LogFormat == "json" {
		handler = slog.NewJSONHandler(w, options)
	}
	if c.Tracing.On() {
		handler = tracing.LogHandler{Handler: handler}
	}
	return slog.New(handler)
}

// throttledLog logs a repeating failure at most once per interval.
type throttledLog struct {
	log   *slog.Logger
	often rate.Sometimes
}

func newThrottledLog(log *slog.Logger, every time.Duration) *throttledLog {
	return &throttledLog{log: log, often: rate.Sometimes{Interval: every}}
}

func (l *throttledLog) failed(msg string, err error) {
	l.often.Do(func() { l.log.Warn(msg, "error", err) })
}

const (
	outageEvery = time.Minute
	outageOver  = 30 * time.Second // without a line about it
)

// outageLog passes one line a minute during an outage, as every part retries and logs each second. A line
// belongs to an outage if its error is a failed connection, such as to the database; all others pass.
type outageLog struct {
	slog.Handler
	state *outageState
}

// outageState is shared by all loggers of one process.
type outageState struct {
	mu      sync.Mutex
	passed  time.Time // the last line passed
	last    time.Time // the last line
	leftOut int       // lines dropped since passed
}

func newOutageLog(log *slog.Logger) *slog.Logger {
	return slog.New(outageLog{log.Handler(), &outageState{}})
}

// Handle implements slog.Handler.
func (h outageLog) Handle(ctx context.Context, r slog.Record) error {
	if !ofOutage(r) {
		return h.Handler.Handle(ctx, r)
	}
	pass, leftOut := h.state.line(r.Time)
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
	return outageLog{h.Handler.WithAttrs(attrs), h.state}
}

// WithGroup implements slog.Handler.
func (h outageLog) WithGroup(name string) slog.Handler {
	return outageLog{h.Handler.WithGroup(name), h.state}
}

// line reports whether a line at now passes, and how many were dropped before it.
func (s *outageState) line(now time.Time) (pass bool, leftOut int) {
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
