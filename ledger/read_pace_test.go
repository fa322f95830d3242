package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// past writes the leases of a room's earlier days.
type past struct {
	b      *bench
	id     room.ID
	now    int64
	ticket int64
}

// lease writes a lease that was granted so many days and so many ms ago. Without an outcome it has not ended.
func (p *past) lease(ago, before, held int64, outcome room.Outcome) {
	p.ticket++
	at := p.now - ago*days - before
	records := []room.Record{{Type: "joined", At: at, Ticket: p.ticket, Seller: "s"},
		{Type: "granted", At: at, Ticket: p.ticket, Seller: "s", Fence: p.ticket, GrantedAt: at}}
	if outcome != "" {
		records = append(records, room.Record{Type: "ended", At: at + held, Ticket: p.ticket, Seller: "s",
			Fence: p.ticket, Outcome: outcome, EndedAt: at + held})
	}
	p.b.journal.add(p.id, room.Entry{ID: fmt.Sprintf("%d-%d", at, p.ticket), Epoch: 7, Records: records})
}

// five writes five leases of about a length.
func (p *past) five(ago, before, held int64) {
	for i := range int64(5) {
		p.lease(ago, before-i, held+1000*(i-2), room.Completed)
	}
}

func TestPaceIsThatOfTheLastDaysAtTheSameHour(t *testing.T) {
	about := func(hold, spread float64) read.Pace {
		return read.Pace{Hold: time.Duration(hold * float64(time.Second)),
			Spread: time.Duration(spread * float64(time.Second))}
	}
	for id, c := range map[room.ID]struct {
		write func(p *past)
		want  read.Pace
	}{
		"same-hour": {func(p *past) {
			p.five(1, 0, 30*seconds)
			p.five(14, 80*minute, 40*seconds)
			p.five(3, -80*minute, 50*seconds)
		}, about(40, 8.287)},
		"other-hours": {func(p *past) {
			p.five(1, 0, 30*seconds)
			p.five(2, 0, 30*seconds)
			p.five(1, 100*minute, 90*seconds)
			p.five(1, -100*minute, 90*seconds)
			p.five(15, 0, 90*seconds)
		}, about(30, 1.414)},
		"too-few": {func(p *past) {
			p.five(1, 0, 30*seconds)
			for i := range int64(4) {
				p.lease(2, i, 30*seconds, room.Completed)
			}
		}, read.Pace{}},
		"none": {func(p *past) { p.lease(0, 1, 0, "") }, read.Pace{}},
		"today-alone": {func(p *past) {
			for i := range int64(4) {
				p.five(0, 60*minute-i*minute*5, 70*seconds)
				p.five(1, i*minute, 30*seconds)
			}
		}, about(70, 1.414)},
		"today-with-others": {func(p *past) {
			p.five(0, 60*minute, 70*seconds)
			p.five(1, 0, 30*seconds)
		}, about(50, 20.05)},
		"at-most-a-lease": {func(p *past) {
			for i := range int64(5) {
				p.lease(1, 30*minute+i, 600*seconds, room.Expired)
				p.lease(1, 30*minute-i, 60*seconds, room.Forced)
			}
		}, about(90, 30)},
		"what-does-not-count": {func(p *past) {
			p.five(1, 0, 30*seconds)
			p.five(2, 0, 30*seconds)
			for i := range int64(9) {
				p.lease(1, 40*minute+i, 90*seconds, room.Unclaimed)
				p.lease(1, 20*minute+i, 90*seconds, room.Lost)
			}
			p.lease(1, 10*minute, 0, "")
		}, about(30, 1.414)},
	} {
		t.Run(string(id), func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				l := b.open(t)
				p := &past{b: b, id: id, now: 1_800_000_000_000}
				c.write(p)
				require.NoError(t, l.Drain(t.Context(), id))
				got, err := l.Pace(t.Context(), id, p.now, 2*time.Minute)
				require.NoError(t, err)
				require.InDelta(t, c.want.Hold.Seconds(), got.Hold.Seconds(), 0.001, "hold")
				require.InDelta(t, c.want.Spread.Seconds(), got.Spread.Seconds(), 0.001, "spread")
				got, err = l.Pace(t.Context(), id+"-2", p.now, 2*time.Minute)
				require.NoError(t, err)
				require.Zero(t, got, "of another room")
			})
		})
	}
}
