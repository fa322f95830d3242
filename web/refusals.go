package web

import (
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/web/quota"
)

// noteEvery is the interval between log lines about one limit.
const noteEvery = time.Minute

// refusals logs refusals by limits: the first of each at once, then one line a minute.
type refusals struct {
	log   *slog.Logger
	count *prometheus.CounterVec

	mu     sync.Mutex
	limits map[string]*noted
}

// noted counts a limit's refusals since its last line.
type noted struct {
	at      time.Time
	refused int
}

func newRefusals(log *slog.Logger, r prometheus.Registerer) *refusals {
	n := &refusals{log: log, limits: make(map[string]*noted),
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_limited_total", Help: "Requests refused for a limit, by its setting."},
			[]string{"setting"})}
	for _, setting := range []string{quota.RateLimit, quota.PlacesPerIP, quota.Rooms, roomLimit, socketsPerIP} {
		n.count.WithLabelValues(setting) // a rate needs a zero to begin with
	}
	if r != nil {
		r.MustRegister(n.count)
	}
	return n
}

func (n *refusals) note(setting string, client netip.Addr) {
	n.count.WithLabelValues(setting).Inc()
	n.mu.Lock()
	defer n.mu.Unlock()
	limit := n.limits[setting]
	if limit == nil {
		limit = &noted{}
		n.limits[setting] = limit
	}
	limit.refused++
	if time.Since(limit.at) < noteEvery {
		return
	}
	n.log.Warn("refused for a limit", "setting", "WAITROOM_"+setting, "count", limit.refused, "client",
		client.String())
	limit.at, limit.refused = time.Now(), 0
}
