package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

const minute = 60_000

// life has the times of a place's events; 0 = not yet, or never.
type life struct {
	joined, granted, ended int64
	outcome                room.Outcome
}

// histories returns random places of a room, of which one at a time holds the lock. Some rooms are busy, and
// some events share a millisecond or lie in the first one of a minute.
func histories(r *rand.Rand, from int64) []life {
	list := make([]life, 50+r.IntN(100))
	pace := []int64{9000, 1500}[r.IntN(2)]
	at, free := from, from
	for i := range list {
		at += r.Int64N(pace)
		if r.IntN(4) == 0 {
			at = max(at, free)
		}
		p := &list[i]
		p.joined = at
		if r.IntN(3) == 0 { // it leaves, should it not be granted before
			p.ended, p.outcome = at+r.Int64N(5*minute), room.Cancelled
		}
		grant := max(free, at)
		if r.IntN(15) == 0 || p.ended != 0 && p.ended <= grant {
			continue // away, or gone
		}
		p.granted, p.ended, p.outcome = grant+r.Int64N(3), 0, ""
		if i == len(list)-1 && r.IntN(2) == 0 {
			continue // it still holds the lock
		}
		p.ended, p.outcome = p.granted+r.Int64N(2*pace),
			[]room.Outcome{room.Completed, room.Expired, room.Forced}[r.IntN(3)]
		switch r.IntN(12) {
		case 0:
			p.ended += 2 * minute
		case 1:
			p.ended += minute - p.ended%minute
		}
		free = p.ended
		if r.IntN(10) == 0 { // support pauses
			free += r.Int64N(2 * minute)
		}
	}
	return list
}

func (b *bench) writeHistories(list []life) {
	for i, p := range list {
		ticket, seller := int64(i+1), fmt.Sprint("s-", i)
		b.write(1, room.Record{Type: "joined", At: p.joined, Ticket: ticket, Seller: seller})
		var fence int64
		if p.granted != 0 {
			fence = ticket * 1000
			b.write(1, room.Record{Type: "granted", At: p.granted, Ticket: ticket, Seller: seller, Fence: fence,
				GrantedAt: p.granted})
		}
		if p.ended != 0 {
			b.write(1, room.Record{Type: "ended", At: p.ended, Ticket: ticket, Seller: seller, Fence: fence,
				Outcome: p.outcome, EndedAt: p.ended})
		}
	}
}

// modelOf computes a minute's statistics from a list of places, one by one.
func modelOf(list []life, at int64, depth bool) read.Minute {
	m := read.Minute{At: at, Depth: -1, Outcomes: map[room.Outcome]int{}}
	end := at + minute
	within := func(t int64) bool { return t >= at && t < end }
	var waits, delays []int64
	waiting := 0
	var before *life
	for i := range list {
		p := &list[i]
		if p.ended != 0 && within(p.ended) {
			m.Outcomes[p.outcome]++
		}
		if p.joined < end && (p.ended == 0 || p.ended >= end) && (p.granted == 0 || p.granted >= end) {
			waiting++
		}
		if p.granted == 0 {
			continue
		}
		if within(p.granted) {
			m.Granted++
			waits = append(waits, p.granted-p.joined)
			if before != nil && p.joined < before.ended {
				delays = append(delays, p.granted-before.ended)
			}
		}
		before = p
	}
	if depth {
		m.Depth = waiting
	}
	m.WaitP50, m.WaitP95 = rank(waits, 50), rank(waits, 95)
	m.DelayP50, m.DelayP95 = rank(delays, 50), rank(delays, 95)
	return m
}

// rank returns the nearest-rank percentile: the smallest value that at least so many percent do not exceed.
func rank(values []int64, percent int) int64 {
	slices.Sort(values)
	for i, v := range values {
		if (i+1)*100 >= percent*len(values) {
			return v
		}
	}
	return -1
}

func TestMinutesAreWhatOneByOneCountingFinds(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 7))
			id := room.ID(fmt.Sprint("room-", seed))
			const from = 1_000_000 * minute
			list := histories(r, from+r.Int64N(minute))
			b.writeHistories(list)
			b.journal.rename(here, id)
			require.NoError(t, l.Drain(t.Context(), id))
			for _, span := range [][2]int64{{from - 2*minute, from + 60*minute},
				{from + 5*minute + 1, from + 9*minute + 1}, {from + 3*minute, from + 4*minute}} {
				depth := r.IntN(4) > 0
				got, err := l.Minutes(t.Context(), id, span[0], span[1], depth)
				require.NoError(t, err)
				first := span[0] - span[0]%minute
				require.Len(t, got, int((span[1]-first+minute-1)/minute))
				for i, m := range got {
					require.Equal(t, modelOf(list, first+int64(i)*minute, depth), m, "seed %d minute %d", seed, i)
				}
			}
		}
	})
}

func TestMinutesOfARoomThatLostItsDataCountNoSellerTwice(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), joined(2))
		b.write(9, room.Record{Type: "epoch", At: minute + 5},
			room.Record{Type: "joined", At: minute + 5, Ticket: 3, Seller: "s-2"})
		b.write(9, ended(7, room.Expired)) // its grant is not known
		require.NoError(t, l.Drain(t.Context(), here))
		got, err := l.Minutes(t.Context(), here, 0, 2*minute, true)
		require.NoError(t, err)
		require.Equal(t, []read.Minute{
			{At: 0, Depth: 1, Granted: 1, WaitP50: 0, WaitP95: 0, DelayP50: -1, DelayP95: -1,
				Outcomes: map[room.Outcome]int{room.Expired: 1}},
			{At: minute, Depth: 1, WaitP50: -1, WaitP95: -1, DelayP50: -1, DelayP95: -1,
				Outcomes: map[room.Outcome]int{room.Lost: 2}},
		}, got)
	})
}

func TestMinutesAreBounded(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		got, err := l.Minutes(t.Context(), here, 0, 1_000_000*minute, false)
		require.NoError(t, err)
		require.Len(t, got, 7*24*60)
		require.EqualValues(t, 999_999*minute, got[len(got)-1].At)
		got, err = l.Minutes(t.Context(), here, 5*minute, 5*minute, true)
		require.NoError(t, err)
		require.Empty(t, got)
	})
}

// The median of 21 waits is the 11th and their 95th percentile the 20th; of the 20 delays, the 10th and the
// 19th.
func TestPercentilesAreByNearestRank(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		const from = 1_000 * minute
		var list []life
		for n := range int64(21) {
			granted := from + n*1000
			list = append(list, life{joined: granted - 10_000 - 10*(n*5%21+1), granted: granted,
				outcome: room.Completed,
				ended:   granted + 1000 - 10*((n+1)*7%20+1)}) // as long before the next one is granted
		}
		b.writeHistories(list)
		require.NoError(t, l.Drain(t.Context(), here))
		got, err := l.Minutes(t.Context(), here, from, from+minute, false)
		require.NoError(t, err)
		require.Equal(t, []read.Minute{{At: from, Depth: -1, Granted: 21, WaitP50: 10_110, WaitP95: 10_200,
			DelayP50: 100, DelayP95: 190,
			Outcomes: map[room.Outcome]int{room.Completed: 21}}}, got)
	})
}
