package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/waitroom/waitroom/templates"
)

// The ledger is asked about the last days, for so long before and after the hour of the day.
const (
	daySeconds = 86400.0
	pastDays   = 14
	nearHour   = 5400.0
)

// openingsEach is how often an opening is played for each seed of a world, which has many more waits.
const openingsEach = 8

// openings are rooms that begin without an average of their own, at hours of the fifteenth day: by day and by
// night. Forty sellers come at once, as after a restart that kept the line.
var (
	openHours = []float64{9.5, 23.5}
	opens     = arrivals{name: "opening", load: 0.95, count: 40, spike: 40, every: 1}
)

// change is how the day differs from those before it.
type change struct {
	name   string
	factor float64 // of all holds
}

var changes = []change{{"as long as before", 1}, {"a quarter longer", 1.25}, {"a fifth shorter", 0.8},
	{"half as long again", 1.5}, {"a third shorter", 1 / 1.5}}

// byHour holds twice as long at midnight as at noon.
func byHour(t float64, _ uint64) float64 { return 30 + 10*math.Cos(2*math.Pi*t/daySeconds) }

func openHoldings() []holding {
	return append(holdings(), holding{name: "by the hour", sigma: 0.5, median: byHour})
}

// at returns the holds of a room that opens at a time, and how they differ from those of other days.
func (h holding) at(opened, factor float64) holding {
	then := h.median
	h.median = func(t float64, seed uint64) float64 { return factor * then(opened+t, seed) }
	return h
}

// pace is how long leases were held.
type pace struct{ hold, spread float64 }

// past returns the pace of the last days, for so long before and after the hour at which a room opens.
func (h holding) past(r *rand.Rand, opened, near float64, seed uint64) pace {
	n, sum, squares := 0.0, 0.0, 0.0
	for day := 1; day <= pastDays; day++ {
		for t := -near; t < near; {
			held := h.draw(r, opened-float64(day)*daySeconds+t, seed)
			n, sum, squares = n+1, sum+held, squares+held*held
			t += held * (1 + r.ExpFloat64())
		}
	}
	mean := sum / n
	return pace{mean, math.Sqrt(max(squares/n-mean*mean, 0))}
}

// The stages of a new average, by the number of leases that have ended.
var stages = []struct {
	name string
	to   int
}{{"0", 0}, {"1–2", 2}, {"3–8", 8}}

// ways are without and with the history.
const ways = 2

// opening watches all waiters of a room until its average needs no history.
type opening struct {
	*room
	known   *known
	past    pace
	count   int
	waiters []*opened
	to      *[ways][]firsts
}

// opened is a waiter and its looks at the page. When it was loaded, the page knew the position, and from how
// many leases the average came.
type opened struct {
	ticket         int
	looks          []look
	position, from int
}

type look struct {
	at, maximum float64
	stage       int
	said        [ways]float64
	ranged      [ways]bool
	usual       [ways][2]float64
}

// firsts has the errors of the looks of one stage.
type firsts struct {
	tally
	ranged, within int
	width, waited  float64 // sums
}

func (o *opening) joined(t int) { o.waiters = append(o.waiters, &opened{ticket: t}) }

func (o *opening) ended(held float64, _ bool) {
	o.known.ended(held, o.now)
	o.count++
}

func (o *opening) left(t int) { o.take(t) }

func (o *opening) take(t int) *opened {
	for i, w := range o.waiters {
		if w.ticket == t {
			o.waiters = append(o.waiters[:i], o.waiters[i+1:]...)
			return w
		}
	}
	return nil
}

func (o *opening) changed() {
	for i, s := range stages {
		if o.count > s.to {
			continue
		}
		for _, w := range o.waiters {
			w.looks = append(w.looks, o.look(w, i))
		}
		return
	}
}

// look returns what the page says to a waiter, without and with the history. The page takes the places that
// it has come forward for leases that have ended.
func (o *opening) look(w *opened, stage int) look {
	s := sight{now: o.now, position: o.line.upTo(w.ticket)}
	if len(w.looks) == 0 {
		w.position, w.from = s.position, o.count
	}
	if o.holder != 0 {
		s.held, s.elapsed, s.left = true, o.now-o.since, o.expires-o.now
	}
	h, rest := o.known.square.first.h, 0.0
	if s.held {
		rest = min(byMomentsMiddle(o.known, h, s.elapsed), s.left)
	}
	estimated := min(rest+float64(s.position-1)*h, s.maximum())
	v := look{at: o.now, maximum: s.maximum(), stage: stage}
	for way, u := range []templates.Usual{
		{Position: s.position, Left: s.left, Spread: math.Sqrt(o.known.square.variance())},
		{Position: s.position, Held: s.held, Left: s.left, Spread: o.past.spread,
			Hold: o.past.hold, Lease: leaseLength, Holds: w.from + w.position - s.position},
	} {
		v.said[way] = u.Expected(estimated, s.maximum())
		v.usual[way][0], v.usual[way][1] = u.Range(v.said[way], s.maximum())
		v.ranged[way] = s.position >= 2 && s.position <= 100 && u.Spread > 0
	}
	return v
}

func (o *opening) granted(t int) {
	w := o.take(t)
	if w == nil || o.places[t].passed {
		return
	}
	for i, v := range w.looks {
		for way := range ways {
			f := &o.to[way][v.stage]
			f.see(v, way, o.now-v.at)
			if i > 0 {
				f.next(w.looks[i-1].said[way], v.said[way])
			}
		}
	}
}

func (f *firsts) see(v look, way int, actual float64) {
	f.add(v.said[way], actual)
	if !v.ranged[way] {
		return
	}
	low, high := v.usual[way][0], v.usual[way][1]
	f.ranged++
	f.width, f.waited = f.width+high-low, f.waited+actual
	if actual >= low-0.5 && actual <= high+0.5 {
		f.within++
	}
}

// open plays the openings of some holdings and returns the errors without and with the history.
func open(all []holding, by change, near float64, first, seeds int) (to [ways][]firsts) {
	for way := range to {
		to[way] = make([]firsts, len(stages))
	}
	for _, h := range all {
		for _, hour := range openHours {
			for seed := uint64(first); seed < uint64(first+seeds); seed++ {
				at := pastDays*daySeconds + 3600*hour
				o := &opening{known: newKnown(nil), to: &to,
					past: h.past(rand.New(rand.NewPCG(seed, 2)), at, near, seed)}
				o.room = newRoom(world{holding: h.at(at, by.factor), arrivals: opens, leavers: 0.1, away: 0.1}, seed, o)
				o.play()
			}
		}
	}
	return to
}

// firstsTable compares the first estimates of rooms with a history to those without.
func firstsTable(first, seeds int) string {
	t := newTable("leases", "ended so far", "median error: without", "with", "p90 error: without", "with",
		"bias: without", "with", "jumps up in 100 views: without", "with", "within the range: without", "with",
		"its width: without", "with")
	rows := func(name string, to [ways][]firsts) {
		for i, s := range stages {
			a, b := to[0][i].result(), to[1][i].result()
			t.row(name, s.name, percent(a.Median), percent(b.Median), percent(a.P90), percent(b.P90), signed(a.Bias),
				signed(b.Bias), fmt.Sprintf("%.1f", a.Jumps), fmt.Sprintf("%.1f", b.Jumps), to[0][i].covered(),
				to[1][i].covered(), to[0][i].wide(), to[1][i].wide())
		}
	}
	same := changes[0]
	for _, by := range changes {
		rows("all, "+by.name, open(openHoldings(), by, nearHour, first, seeds))
	}
	for _, h := range openHoldings() {
		rows(h.name, open([]holding{h}, same, nearHour, first, seeds))
	}
	all := openHoldings()
	rows("by the hour, a history of whole days", open(all[len(all)-1:], same, daySeconds/2, first, seeds))
	return t.String()
}

// covered returns how many of the waits with a range ended within it.
func (f *firsts) covered() string {
	if f.ranged == 0 {
		return "–"
	}
	return percent(float64(f.within) / float64(f.ranged))
}

func (f *firsts) wide() string {
	if f.ranged == 0 {
		return "–"
	}
	return percent(f.width / f.waited)
}
