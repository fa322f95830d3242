package server

import (
	"io"
	"log/slog"
	"time"

	"golang.org/x/time/rate"

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
