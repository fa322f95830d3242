package read

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/waitroom/waitroom/room/wire"
)

// Minute is one minute of a room.
type Minute struct {
	At               int64 // unix ms of its start
	Depth            int   // places waiting at its end, or now; -1 = not requested
	Granted          int   // leases granted
	WaitP50, WaitP95 int64 // ms from join to grant, of its grants; -1 = no grants
	// ms from the previous lease's end to the grant, if a seller waited; -1 = none waited
	DelayP50, DelayP95 int64
	Outcomes           map[wire.Outcome]int
}

const (
	minute     = int64(time.Minute / time.Millisecond)
	maxMinutes = 7 * 24 * 60
)

// Minutes returns the minutes of [from, to), in unix ms, earliest first, at most the latest week. Empty
// minutes are included. Depth costs a read of the whole line, and of every place that ended after to.
func (r *Reader) Minutes(ctx context.Context, id wire.ID, from, to int64, depth bool) (list []Minute,
	err error) {
	to += minute - 1
	from, to = from-from%minute, to-to%minute
	from = max(from, to-maxMinutes*minute)
	s := newSeries(from, to, depth)
	err = r.reading(ctx, id, func(w *work) error { return w.minutes(s) })
	if err != nil {
		return nil, fmt.Errorf("minutes: %w", err)
	}
	return s.list(), nil
}

// series are the minutes of [from, to).
type series struct {
	from, to      int64
	depth         bool
	minutes       []Minute
	waits, delays [][]int64
	grants        []grant
	open          int   // open places at the end
	joined, ended []int // places by minute
}

func newSeries(from, to int64, depth bool) *series {
	n := max(int((to-from)/minute), 0)
	s := &series{from: from, to: to, depth: depth, minutes: make([]Minute, n), waits: make([][]int64, n),
		delays: make([][]int64, n), joined: make([]int, n), ended: make([]int, n)}
	for i := range s.minutes {
		s.minutes[i] = Minute{At: from + int64(i)*minute, Depth: -1, Outcomes: map[wire.Outcome]int{}}
	}
	return s
}

func (w *work) minutes(s *series) error {
	if len(s.minutes) == 0 {
		return nil
	}
	if err := w.grants(s); err != nil {
		return err
	}
	return w.places(s)
}

// grant holds a lease's start and end, its place's join and the previous lease's end. 0 is not known, or not
// yet.
type grant struct{ at, ended, joined, before int64 }

// grants reads the leases that were granted in a series. For the depth it also reads the lease before it.
func (w *work) grants(s *series) error {
	const began = `COALESCE(l.granted_at, l.ended_at, 0)`
	const columns = `SELECT l.granted_at, COALESCE(l.ended_at, 0), COALESCE((SELECT p.joined_at FROM places p
			WHERE p.room = l.room AND p.epoch = l.epoch AND p.ticket = l.ticket), 0), COALESCE((SELECT b.ended_at
			FROM leases b
			WHERE b.room = l.room AND b.fence < l.fence ORDER BY b.fence DESC LIMIT 1), 0)
		FROM leases l WHERE l.room = $1 AND l.granted_at IS NOT NULL AND ` + began
	read := func(scan func(...any) error) error {
		var g grant
		err := scan(&g.at, &g.ended, &g.joined, &g.before)
		s.grant(g)
		return err
	}
	err := w.Each(read, columns+` >= $2 AND `+began+` < $3`, string(w.id), s.from, s.to)
	if err != nil || !s.depth {
		return err
	}
	return w.Each(read, columns+` < $2 ORDER BY `+began+` DESC LIMIT 1`, string(w.id), s.from)
}

// grant adds a lease.
func (s *series) grant(g grant) {
	s.grants = append(s.grants, g)
	if g.at < s.from {
		return
	}
	i := (g.at - s.from) / minute
	s.minutes[i].Granted++
	if g.joined != 0 {
		s.waits[i] = append(s.waits[i], max(g.at-g.joined, 0))
	}
	if g.joined != 0 && g.before != 0 && g.joined < g.before {
		s.delays[i] = append(s.delays[i], max(g.at-g.before, 0))
	}
}

// places reads the ends of places, the unclaimed leases and, for the depth, the number of places. One
// statement reads them, so that they are of one moment.
func (w *work) places(s *series) error {
	query, args := `SELECT 'ended', ended_at / 60000, outcome, COUNT(*),
			COUNT(CASE WHEN joined_at <= ended_at THEN 1 END)
		FROM places WHERE room = $1 AND ended_at >= $2 AND ended_at < $3 GROUP BY 2, 3
		UNION ALL SELECT 'unclaimed', ended_at / 60000, outcome, COUNT(*), 0 FROM leases
		WHERE room = $1 AND COALESCE(granted_at, ended_at, 0) >= $4 AND COALESCE(granted_at, ended_at, 0) < $3
			AND outcome = 'unclaimed' AND ended_at >= $2 AND ended_at < $3 GROUP BY 2, 3`,
		[]any{string(w.id), s.from, s.to, s.from - wire.LongestLease.Milliseconds()}
	if s.depth {
		query += ` UNION ALL SELECT 'open', 0, '', 0, COUNT(*) FROM places WHERE room = $1 AND outcome IS NULL
			AND joined_at < $3
			UNION ALL SELECT 'open', 0, '', 0, COUNT(*) FROM places WHERE room = $1 AND ended_at >= $3
			AND joined_at < $3
			UNION ALL SELECT 'joined', joined_at / 60000, '', 0, COUNT(*) FROM places
			WHERE room = $1 AND COALESCE(joined_at, ended_at, 0) >= $2 AND COALESCE(joined_at, ended_at, 0) < $3
				AND joined_at IS NOT NULL AND (ended_at IS NULL OR ended_at >= joined_at) GROUP BY 2`
	}
	return w.Each(func(scan func(...any) error) error {
		var what, outcome string
		var at int64
		var ended, present int // of all places, and of those that count for the depth
		err := scan(&what, &at, &outcome, &ended, &present)
		switch i := at - s.from/minute; {
		case err != nil:
		case what == "open":
			s.open += present
		case what == "joined":
			s.joined[i] += present
		case what == "unclaimed":
			s.minutes[i].Outcomes[wire.Outcome(outcome)] += ended
		default:
			s.ended[i] += present
			s.minutes[i].Outcomes[wire.Outcome(outcome)] += ended
		}
		return err
	}, query, args...)
}

// list computes the minutes.
func (s *series) list() []Minute {
	for i := range s.minutes {
		m := &s.minutes[i]
		m.WaitP50, m.WaitP95 = percentiles(s.waits[i])
		m.DelayP50, m.DelayP95 = percentiles(s.delays[i])
	}
	if s.depth {
		s.count()
	}
	return s.minutes
}

// count computes the depth at the end of each minute, from the last one back. The depth is the number of
// places without the lock.
func (s *series) count() {
	open := s.open
	for i := len(s.minutes) - 1; i >= 0; i-- {
		s.minutes[i].Depth = open
		open += s.ended[i] - s.joined[i]
	}
	for _, g := range s.grants {
		last := len(s.minutes)
		if g.ended != 0 {
			last = min(int((g.ended-s.from)/minute), last)
		}
		for i := max(int((g.at-s.from)/minute), 0); i < last; i++ {
			if g.joined != 0 && g.joined < s.minutes[i].At+minute {
				s.minutes[i].Depth--
			}
		}
	}
}

// percentiles returns the median and the 95th percentile by nearest rank; -1 without values.
func percentiles(values []int64) (p50, p95 int64) {
	if len(values) == 0 {
		return -1, -1
	}
	slices.Sort(values)
	rank := func(p float64) int64 { return values[int(math.Ceil(p*float64(len(values))))-1] }
	return rank(.5), rank(.95)
}
