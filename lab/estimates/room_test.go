package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// witness checks the contract's rules while a room is simulated.
type witness struct {
	t      *testing.T
	room   *room
	holder int
	until  float64 // the last lease's end
	come   int
	held   int
	gone   int
	trace  []float64
}

func (w *witness) joined(ticket int) {
	w.come++
	require.Equal(w.t, w.come, ticket, "tickets have no gaps")
	w.trace = append(w.trace, w.room.now)
}

func (w *witness) ended(held float64, expired bool) {
	require.NotZero(w.t, w.holder, "only a lease that is live ends")
	require.LessOrEqual(w.t, held, leaseLength+1e-6)
	require.Equal(w.t, held > leaseLength-1e-6, expired)
	w.holder, w.until = 0, w.room.now
	w.trace = append(w.trace, held)
}

func (w *witness) granted(ticket int) {
	require.Zero(w.t, w.holder, "one holder at a time")
	for t := 1; t < ticket; t++ {
		p := w.room.places[t]
		require.False(w.t, p.status == waiting && !p.away, "%d was there and before %d", t, ticket)
	}
	w.holder = ticket
	w.held++
}

func (w *witness) left(ticket int) {
	require.NotEqual(w.t, w.holder, ticket)
	w.gone++
}

func (w *witness) changed() {
	waits, there := 0, 0
	for _, p := range w.room.places {
		if p.status == waiting {
			waits++
			if !p.away {
				there++
			}
		}
	}
	holding := min(w.holder, 1)
	require.Equal(w.t, w.come, w.held+w.gone+waits, "every seller that came holds, held, left or waits")
	require.Equal(w.t, waits, w.room.line.all)
	require.Equal(w.t, there, w.room.there.all)
	require.False(w.t, holding == 0 && there > 0, "the lock is free only where no seller is there")
}

func small(h holding, leavers, away float64) world {
	return world{h, arrivals{name: "small", load: 0.9, count: 150, spike: 60, at: spikeAt, every: 1}, leavers, away}
}

func play(t *testing.T, w world, seed uint64) *witness {
	t.Helper()
	by := &witness{t: t}
	by.room = newRoom(w, seed, by)
	by.room.play()
	return by
}

func TestRoomKeepsTheContractsRules(t *testing.T) {
	for _, h := range holdings() {
		for seed := range uint64(3) {
			w := play(t, small(h, 0.3, 0.3), seed)
			require.Equal(t, 210, w.come)
			require.Equal(t, w.come, w.held+w.gone, "in the end no seller waits")
			require.Zero(t, w.holder)
			require.NotZero(t, w.gone)
		}
	}
}

func TestPatientPresentSellersNeverLeave(t *testing.T) {
	require.Equal(t, 210, play(t, small(holdings()[1], 0, 0), 1).held)
}

func TestSameSeedPlaysTheSameRoom(t *testing.T) {
	w := small(holdings()[3], 0.1, 0.1)
	require.Equal(t, play(t, w, 7).trace, play(t, w, 7).trace)
	require.NotEqual(t, play(t, w, 7).trace, play(t, w, 8).trace)
}

func TestHoldingsMeanIsWhatIsDrawn(t *testing.T) {
	for _, h := range holdings() {
		sum, n := 0.0, 40_000
		r := newRoom(small(h, 0, 0), 5, nil).r
		for range n {
			x := h.draw(r, 5000, 5)
			require.True(t, x > 0 && x <= leaseLength)
			sum += x
		}
		require.InEpsilon(t, h.mean(5000, 5), sum/float64(n), 0.02, h.name)
	}
}

func TestCountsKnowsPositionsAndTheFirst(t *testing.T) {
	c := newCounts(10)
	require.Zero(t, c.first())
	for _, ticket := range []int{10, 4, 7} {
		c.add(ticket, 1)
	}
	require.Equal(t, 4, c.first())
	require.Equal(t, []int{0, 1, 1, 2, 3}, []int{c.upTo(3), c.upTo(4), c.upTo(6), c.upTo(7), c.upTo(10)})
	c.add(4, -1)
	require.Equal(t, 7, c.first())
	require.Equal(t, 2, c.all)
}

func TestAwayWaitersAreDroppedOrComeBackToTheirPlace(t *testing.T) {
	r := newRoom(small(holdings()[0], 0, 0), 1, &witness{t: t})
	r.watch.(*witness).room = r
	r.events = nil
	r.arrive() // holds
	r.arrive()
	r.arrive()
	r.places[2].away = true
	r.there.add(2, -1)
	r.release()
	require.Equal(t, 3, r.holder, "who is away is passed over")
	require.True(t, r.places[2].passed)
	r.comeBack(2)
	require.Equal(t, 3, r.holder)
	r.release()
	require.Equal(t, 2, r.holder, "and is first again when it is back")
	require.True(t, math.IsInf(world{leavers: 0}.patience(r.r), 1))
}
