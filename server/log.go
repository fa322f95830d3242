package server

import (
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/waitroom/waitroom/server/tracing"
)

// NewLog makes the log that LOG_FORMAT and LOG_LEVEL ask for. Where there are traces, a line says which one it belongs to.
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

// grumble logs a failure that repeats itself at most once in a while.
type grumble struct {
	log   *slog.Logger
	every time.Duration

	mu   sync.Mutex
	last time.Time
}

func (g *grumble) failed(msg string, err error) {
	g.mu.Lock()
	due := time.Since(g.last) >= g.every
	if due {
		g.last = time.Now()
	}
	g.mu.Unlock()
	if due {
		g.log.Warn(msg, "error", err)
	}
}
