package crowd

import (
	"fmt"
	"maps"
	"time"
)

// Line is the progress of a run: the counts so far, and what happened in each second since the previous line.
type Line struct {
	At                       time.Duration
	Sockets, Waiting, Held   int
	Handoffs, Frames         int
	HandoffsPerS, FramesPerS float64
	Checked, Exact           int // positions
	Violations, Errors       int
}

func (l Line) String() string {
	return fmt.Sprintf("%4.0fs  sockets %d  waiting %d  held %d  handoffs/s %.1f  frames/s %.0f  positions "+
		"%d (%.1f %% exact)  violations %d  errors %d",
		l.At.Seconds(), l.Sockets, l.Waiting, l.Held, l.HandoffsPerS, l.FramesPerS, l.Checked,
		percent(l.Exact, l.Checked), l.Violations, l.Errors)
}

func percent(part, of int) float64 { return 100 * float64(part) / float64(max(of, 1)) }

// since computes the rates since the previous line.
func (l Line) since(before Line) Line {
	seconds := (l.At - before.At).Seconds()
	l.HandoffsPerS = float64(l.Handoffs-before.Handoffs) / seconds
	l.FramesPerS = float64(l.Frames-before.Frames) / seconds
	return l
}

func (c *crowd) line(at time.Duration) Line {
	l := Line{At: at}
	for _, h := range c.halls {
		t, _ := h.model.Tally()
		l.Waiting, l.Held = l.Waiting+t.Waiting, l.Held+t.Held
		l.Handoffs, l.Frames = l.Handoffs+t.Leases, l.Frames+t.Frames
		l.Checked, l.Exact = l.Checked+t.Checked, l.Exact+t.Exact
		l.Violations += total(t.Violations)
	}
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	l.Sockets, l.Errors = c.stats.sockets, total(c.stats.errors)
	return l
}

func total(counts map[string]int) (n int) {
	for count := range maps.Values(counts) {
		n += count
	}
	return n
}

// Summary is the result of a run.
type Summary struct {
	Seed          uint64                `json:"seed"`
	Seconds       float64               `json:"seconds"`
	Replicas      int                   `json:"replicas"`
	People        int                   `json:"people"`
	PeakSockets   int                   `json:"peak_sockets"`
	OpenedSockets int                   `json:"opened_sockets"`
	HandoffsPerS  float64               `json:"handoffs_per_s"`
	FramesPerS    float64               `json:"frames_per_s"`
	JoinMS        Quantiles             `json:"join_ms"`
	HandoffMS     Quantiles             `json:"handoff_ms"`
	SMS           map[string]int        `json:"sms"`
	NumberBusy    int                   `json:"number_busy"`
	Errors        map[string]int        `json:"errors"`
	Unaudited     int                   `json:"unaudited"` // places that could not be asked for in the end
	Rooms         map[string]ModelTally `json:"rooms"`
	Violations    []Violation           `json:"violations"` // the first of each room
}

// OK reports that no rule was broken and that every place was found at the end.
func (s *Summary) OK() bool {
	n := s.Unaudited
	for _, r := range s.Rooms {
		n += total(r.Violations)
	}
	return n == 0
}

func (c *crowd) summary(took time.Duration, unaudited int) Summary {
	s := Summary{Seed: c.cfg.Seed, Seconds: took.Seconds(), Replicas: len(c.cfg.URLs), People: len(c.sellers),
		Unaudited: unaudited,
		Rooms:     map[string]ModelTally{}, Violations: []Violation{}}
	for _, h := range c.halls {
		t, first := h.model.Tally()
		s.Rooms[h.id] = t
		s.Violations = append(s.Violations, first...)
		s.HandoffsPerS += float64(t.Leases) / took.Seconds()
		s.FramesPerS += float64(t.Frames) / took.Seconds()
	}
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	s.PeakSockets, s.OpenedSockets, s.NumberBusy = c.stats.peak, c.stats.opened, c.stats.numberBusy
	s.JoinMS, s.HandoffMS = quantiles(c.stats.joins), quantiles(c.stats.handoff)
	s.SMS, s.Errors = copied(c.stats.messages), copied(c.stats.errors)
	return s
}
