package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/server/store"
)

// askWithin is how long a check may take before it counts as failed.
const askWithin = time.Second

// check is one thing that readiness depends on, or only reports.
type check struct {
	name string
	bad  string // its status when ask fails
	ask  func(context.Context) error
	soft bool // reported, and the server is ready all the same
}

func (c check) said(err error) string {
	if errors.Is(err, store.ErrNoWrites) {
		return "refuses_writes"
	}
	return c.bad
}

// health answers whether the process lives and whether it should be sent requests.
type health struct {
	checks   []check
	draining atomic.Bool
}

// live is GET /healthz. It touches nothing: a store that is away is no reason to restart us.
func (h *health) live(w http.ResponseWriter, _ *http.Request) {
	writeHealth(w, http.StatusOK, map[string]any{"status": "ok"})
}

// ready is GET /readyz.
func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	said, ok := h.ask(r.Context())
	if ok {
		writeHealth(w, http.StatusOK, map[string]any{"status": "ready", "checks": said})
		return
	}
	writeHealth(w, http.StatusServiceUnavailable, map[string]any{"status": "not_ready", "checks": said})
}

// ask returns how each check is, and whether those that count are all well.
func (h *health) ask(ctx context.Context) (said map[string]string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	said, ok = map[string]string{"server": "ok"}, true
	if h.draining.Load() {
		said["server"], ok = "draining", false
	}
	for _, c := range h.checks {
		said[c.name] = "ok"
		if err := c.ask(ctx); err != nil {
			said[c.name] = c.said(err)
			ok = ok && c.soft
		}
	}
	return said, ok
}

var checkOK = prometheus.NewDesc("waitroom_check_ok",
	"What /readyz says: 1 where a check is well. Without redis, subscription or server no requests are to "+
		"be sent here.",
	[]string{"check"}, nil)

// Describe is part of prometheus.Collector.
func (h *health) Describe(to chan<- *prometheus.Desc) { to <- checkOK }

// Collect asks anew at each scrape.
func (h *health) Collect(to chan<- prometheus.Metric) {
	said, _ := h.ask(context.Background())
	for check, word := range said {
		to <- prometheus.MustNewConstMetric(checkOK, prometheus.GaugeValue, one(word == "ok"), check)
	}
}

func writeHealth(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}
