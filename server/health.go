package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/server/store"
)

// askWithin is the time after which a check counts as failed.
const askWithin = time.Second

// check is one check of readiness, or one that is only reported.
type check struct {
	name string
	bad  string // its status on failure
	ask  func(context.Context) error
	soft bool // reported, without effect on readiness
	rare bool // reported only while it fails
}

func (c check) status(err error) string {
	if errors.Is(err, store.ErrNoWrites) {
		return "refuses_writes"
	}
	return c.bad
}

// health answers the liveness and readiness probes.
type health struct {
	checks   []check
	draining atomic.Bool
}

// live is GET /healthz. It checks nothing: an absent store is no reason for a restart.
func (h *health) live(w http.ResponseWriter, _ *http.Request) {
	writeHealth(w, http.StatusOK, map[string]any{"status": "ok"})
}

// ready is GET /readyz.
func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	checks, ok := h.ask(r.Context())
	if ok {
		writeHealth(w, http.StatusOK, map[string]any{"status": "ready", "checks": checks})
		return
	}
	writeHealth(w, http.StatusServiceUnavailable, map[string]any{"status": "not_ready", "checks": checks})
}

// ask returns the status of each check, and whether all required ones pass.
func (h *health) ask(ctx context.Context) (checks map[string]string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	checks, ok = map[string]string{"server": "ok"}, true
	if h.draining.Load() {
		checks["server"], ok = "draining", false
	}
	errs := make([]error, len(h.checks))
	var all sync.WaitGroup
	for i, c := range h.checks {
		all.Go(func() { errs[i] = c.ask(ctx) })
	}
	all.Wait()
	for i, c := range h.checks {
		switch {
		case errs[i] != nil:
			checks[c.name], ok = c.status(errs[i]), ok && c.soft
		case !c.rare:
			checks[c.name] = "ok"
		}
	}
	return checks, ok
}

var checkOK = prometheus.NewDesc("waitroom_check_ok",
	"What /readyz says: 1 where a check is well. Without redis, subscription or server no requests are to "+
		"be sent here.",
	[]string{"check"}, nil)

// Describe is part of prometheus.Collector.
func (h *health) Describe(to chan<- *prometheus.Desc) { to <- checkOK }

// Collect runs the checks at each scrape.
func (h *health) Collect(to chan<- prometheus.Metric) {
	checks, _ := h.ask(context.Background())
	for check, word := range checks {
		to <- prometheus.MustNewConstMetric(checkOK, prometheus.GaugeValue, one(word == "ok"), check)
	}
}

func writeHealth(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}
