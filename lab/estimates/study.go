package main

import (
	"slices"
	"sync"
)

// watched is one waiter whose estimates are kept until its wait is known.
type watched struct {
	ticket int
	views  []view
	said   []float32 // for each view what every estimator said
}

type view struct {
	at      float64
	band    int
	maximum float64
	ranges  [spreadCount]float64
	usual   [2]float64
}

// study watches the rooms of one world, one after the other.
type study struct {
	*room
	known      *known
	estimators []estimator
	waiters    []*watched
	free       []*watched
	came       int

	mid      int       // the chosen one
	tallies  [][]tally // by estimator and band
	coverage coverage
	overMax  int
	settled  func(*watched) // called for each wait that ended with the lock; may be nil
}

func newStudy(estimators []estimator) *study {
	mid := slices.IndexFunc(estimators, func(e estimator) bool { return e.name == chosen })
	s := &study{estimators: estimators, mid: mid, tallies: make([][]tally, len(estimators))}
	for i := range s.tallies {
		s.tallies[i] = make([]tally, len(bands))
	}
	return s
}

// run simulates a world once.
func (s *study) run(w world, seed uint64) {
	var levels []level
	for _, l := range levelParts() {
		levels = append(levels, l.make())
	}
	s.known, s.waiters, s.came = newKnown(levels), nil, 0
	s.room = newRoom(w, seed, s)
	s.play()
}

func (s *study) joined(t int) {
	s.came++
	if s.holder == 0 && s.there.first() == t || s.came%s.arrivals.every != 0 {
		return
	}
	s.waiters = append(s.waiters, s.fresh(t))
}

func (s *study) fresh(t int) *watched {
	if len(s.free) == 0 {
		return &watched{ticket: t}
	}
	w := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	w.ticket, w.views, w.said = t, w.views[:0], w.said[:0]
	return w
}

func (s *study) ended(held float64, _ bool) { s.known.ended(held, s.now) }

func (s *study) granted(t int) {
	s.known.granted(t, s.now, s.places[t].joined < s.now)
	if w := s.take(t); w != nil {
		if !s.places[t].passed {
			s.settle(w)
		}
		s.free = append(s.free, w)
	}
}

func (s *study) left(t int) {
	s.known.left()
	if w := s.take(t); w != nil {
		s.free = append(s.free, w)
	}
}

// take removes a waiter from those that are watched.
func (s *study) take(t int) *watched {
	for i, w := range s.waiters {
		if w.ticket == t {
			s.waiters = append(s.waiters[:i], s.waiters[i+1:]...)
			return w
		}
	}
	return nil
}

// changed gives every watched waiter with a connected browser a new estimate.
func (s *study) changed() {
	s.known.waits(s.line.all, s.now)
	s.known.truth = s.holding.mean(s.now, s.seed)
	for _, w := range s.waiters {
		if s.now >= s.places[w.ticket].back {
			s.look(w)
		}
	}
}

func (s *study) sight(t int) sight {
	look := sight{now: s.now, position: s.line.upTo(t), ticket: t,
		line: s.line.all, allAway: s.line.all - s.there.all}
	look.away = look.position - s.there.upTo(t)
	if s.places[t].away {
		look.away--
	}
	if s.holder != 0 {
		look.held, look.elapsed, look.left = true, s.now-s.since, s.expires-s.now
	}
	return look
}

func (s *study) look(w *watched) {
	at := s.sight(w.ticket)
	v := view{at: s.now, band: bandOf(at.position), maximum: at.maximum()}
	for i := range s.estimators {
		w.said = append(w.said, float32(s.estimators[i].estimate(s.known, &at)))
	}
	mid := float64(w.said[len(w.said)-len(s.estimators)+s.mid])
	v.ranges, v.usual = ranges(s.known, mid, &at), usual(s.known, mid, &at)
	w.views = append(w.views, v)
}

// settle compares all of a waiter's estimates with the time of its grant.
func (s *study) settle(w *watched) {
	if s.settled != nil {
		s.settled(w)
	}
	n := len(s.estimators)
	for i, v := range w.views {
		actual := s.now - v.at
		if actual > v.maximum+1e-6 {
			s.overMax++
		}
		s.coverage.add(v, actual)
		for e := range s.estimators {
			t := &s.tallies[e][v.band]
			said := float64(w.said[i*n+e])
			t.add(said, actual)
			if i > 0 {
				t.next(float64(w.said[(i-1)*n+e]), said)
			}
		}
	}
}

// outcome is the result of a world.
type outcome struct {
	world    world
	cells    [][]result // by estimator and band
	coverage coverage
	views    int
	overMax  int
}

func (s *study) outcome(w world) outcome {
	o := outcome{world: w, coverage: s.coverage, overMax: s.overMax}
	for _, byBand := range s.tallies {
		var cells []result
		for b := range byBand {
			cells = append(cells, byBand[b].result())
		}
		o.cells = append(o.cells, cells)
	}
	for b := range bands {
		o.views += s.tallies[0][b].views
	}
	return o
}

// playAll simulates every world with every seed, several worlds at a time, which does not change the result.
func playAll(all []world, estimators []estimator, first, seeds, workers int) []outcome {
	out := make([]outcome, len(all))
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				s := newStudy(estimators)
				for seed := range seeds {
					s.run(all[i], uint64(first+seed))
				}
				out[i] = s.outcome(all[i])
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}
