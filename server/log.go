package server

import (
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/waitroom/waitroom/server/tracing"
)

// NewLog makes the log that LOG_FORMAT and LOG_LEVEL ask for. Where there are traces, a line has its trace's
// id.
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

// throttledLog logs a failure that repeats itself at most once in a while.
type throttledLog struct {
	log   *slog.Logger
	every time.Duration

	mu   sync.Mutex
	last time.Time
}

func (l *throttledLog) failed(msg string, err error) {
	l.mu.Lock()
	due := time.Since(l.last) >= l.every
	if due {
		l.last = time.Now()
	}
	l.mu.Unlock()
	if due {
		l.log.Warn(msg, "error", err)
	}
}
