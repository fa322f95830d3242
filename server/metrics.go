package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/admission"
)

// metricsServer serves the metrics on a separate address.
type metricsServer struct {
	listener net.Listener
	http     *http.Server
}

func listenMetrics(addr string, handler http.Handler) (*metricsServer, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, notListening("metrics-addr", addr, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", handler)
	return &metricsServer{listener: listener,
		http: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
			WriteTimeout: 30 * time.Second, IdleTimeout: 60 * time.Second}}, nil
}

// notListening returns the error of an address that a setting names.
func notListening(name, addr string, err error) error {
	return fmt.Errorf("%s is %q: %w: %s", called(name), addr, err, admission.ListenRemedy(err))
}

// run serves until close.
func (m *metricsServer) run() error {
	if err := m.http.Serve(m.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (m *metricsServer) close() {
	_ = m.http.Close()
	_ = m.listener.Close() // if run was never called
}

const (
	linesKnownFor = 10 * time.Second       // scrapes within it get the same values
	linesWithin   = time.Second            // the longest wait of a scrape for the store
	lineWithin    = 500 * time.Millisecond // and for one room of it
	mostLines     = 256                    // rooms read per scrape; others keep the values of an earlier scrape
)

// lineMetrics reports the lines by entry of ROOMS, so that a prefix's rooms make no series. Every replica
// reports all rooms.
type lineMetrics struct {
	rooms   lineRooms
	entries []string // of ROOMS
	failed  func(error)

	used, unread, waiting, away, held, paused, oldest, estimate *prometheus.Desc

	mu     sync.Mutex
	at     time.Time
	known  map[room.ID]room.Glance
	lost   map[room.ID]bool // rooms that could not be read, while they are in use
	looked map[room.ID]time.Time
}

// lineRooms has the rooms that the metrics are of; *room.Engine implements it.
type lineRooms interface {
	Active(ctx context.Context) ([]room.ID, error)
	EachRoom(ctx context.Context, ids []room.ID, within time.Duration,
		f func(context.Context, room.ID) error) map[room.ID]error
	Glance(ctx context.Context, id room.ID) (room.Glance, error)
	Terms(id room.ID) room.Terms
}

// newLineMetrics returns the metrics of rooms by the entries of ROOMS. It calls failed with an error of each
// scrape that could not read all rooms.
func newLineMetrics(rooms lineRooms, entries string, failed func(error)) *lineMetrics {
	about := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("waitroom_line_"+name, help, []string{"rooms"}, nil)
	}
	return &lineMetrics{rooms: rooms, entries: strings.Split(entries, ", "), failed: failed,
		used:     about("rooms", "Rooms in use, by entry of ROOMS; every replica reports all."),
		unread:   about("unread", "Rooms in use that Redis did not answer for; the other series leave them out."),
		waiting:  about("waiting", "Sellers who wait, away or not."),
		away:     about("away", "Sellers who wait and are passed over."),
		held:     about("held", "Rooms whose lock is held."),
		paused:   about("paused", "Rooms that support has paused."),
		oldest:   about("oldest_seconds", "The longest wait of all sellers in line."),
		estimate: about("estimate_seconds", "The longest estimated wait of a newcomer, of all rooms."),
		known:    map[room.ID]room.Glance{}, lost: map[room.ID]bool{}, looked: map[room.ID]time.Time{}}
}

// Describe is part of prometheus.Collector.
func (m *lineMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.used, m.unread, m.waiting, m.away, m.held, m.paused, m.oldest,
		m.estimate} {
		to <- d
	}
}

// Collect reports nothing of the rooms that Redis does not answer for: an old number would look like a calm
// room.
func (m *lineMetrics) Collect(to chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.at) >= linesKnownFor {
		ctx, cancel := context.WithTimeout(context.Background(), linesWithin)
		defer cancel()
		if err := m.look(ctx); err != nil {
			m.failed(err)
			return
		}
		m.at = time.Now()
	}
	for entry, l := range m.sums() {
		for _, gauge := range []struct {
			about *prometheus.Desc
			value float64
		}{{m.used, l.used}, {m.unread, l.unread}, {m.waiting, l.waiting}, {m.away, l.away}, {m.held, l.held},
			{m.paused, l.paused}, {m.oldest, l.oldest}, {m.estimate, l.estimate}} {
			to <- prometheus.MustNewConstMetric(gauge.about, prometheus.GaugeValue, gauge.value, entry)
		}
	}
}

// look reads the rooms in use, those with the oldest values first.
func (m *lineMetrics) look(ctx context.Context) error {
	ids, err := m.rooms.Active(ctx)
	if err != nil {
		return err
	}
	m.forget(ids)
	var mu sync.Mutex
	some := longestAgo(ids, m.looked, mostLines)
	failed := m.rooms.EachRoom(ctx, some, lineWithin, func(ctx context.Context, id room.ID) error {
		g, err := m.rooms.Glance(ctx, id)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			m.known[id] = g
		}
		return err
	})
	now := time.Now()
	for _, id := range some {
		m.looked[id] = now
		delete(m.lost, id)
	}
	for id := range failed {
		m.lost[id] = true
		delete(m.known, id)
	}
	for id, err := range failed {
		m.failed(fmt.Errorf("%d of %d rooms, such as %s: %w", len(failed), len(some), id, err))
		break
	}
	return nil
}

// forget drops rooms that are no longer in use.
func (m *lineMetrics) forget(used []room.ID) {
	now := make(map[room.ID]bool, len(used))
	for _, id := range used {
		now[id] = true
	}
	for id := range m.looked {
		if !now[id] {
			delete(m.known, id)
			delete(m.lost, id)
			delete(m.looked, id)
		}
	}
}

// line is the sum, or the worst, of one entry's rooms.
type line struct{ used, unread, waiting, away, held, paused, oldest, estimate float64 }

func (m *lineMetrics) sums() map[string]*line {
	all := make(map[string]*line, len(m.entries))
	for _, entry := range m.entries {
		all[entry] = &line{}
	}
	for id := range m.lost {
		if l := all[m.entryOf(id)]; l != nil {
			l.used++
			l.unread++
		}
	}
	for id, g := range m.known {
		l := all[m.entryOf(id)]
		if l == nil {
			continue // no longer in ROOMS
		}
		l.used++
		l.waiting += float64(g.Waiting)
		l.away += float64(g.Away)
		l.held += one(g.Lease != nil)
		l.paused += one(g.Paused)
		if g.Oldest > 0 {
			l.oldest = max(l.oldest, float64(g.Now-g.Oldest)/1000)
		}
		if w, ok := g.WaitsAt(g.Waiting+1, g.Now, m.rooms.Terms(id).Lease); ok {
			l.estimate = max(l.estimate, w.Estimated.Seconds())
		}
	}
	return all
}

// entryOf returns the entry that allows a room: its own, or the first matching prefix.
func (m *lineMetrics) entryOf(id room.ID) string {
	first := ""
	for _, entry := range m.entries {
		if entry == string(id) {
			return entry
		}
		if prefix, many := strings.CutSuffix(entry, "*"); many && first == "" &&
			strings.HasPrefix(string(id), prefix) {
			first = entry
		}
	}
	return first
}

func one(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

// longestAgo returns the n rooms with the oldest values.
func longestAgo(ids []room.ID, looked map[room.ID]time.Time, n int) []room.ID {
	if len(ids) <= n {
		return ids
	}
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b room.ID) int { return looked[a].Compare(looked[b]) })
	return ids[:n]
}
