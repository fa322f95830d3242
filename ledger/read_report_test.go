package ledger_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// writePlace journals a place. ticket also numbers its fence.
func (b *bench) writePlace(ticket int64, p life) {
	seller, fence := fmt.Sprint("s-", ticket), int64(0)
	b.write(1, room.Record{Type: "joined", At: p.joined, Ticket: ticket, Seller: seller})
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

// writeMessage journals a message that was sent for a lease and arrived later.
func (b *bench) writeMessage(id string, ticket, sent, arrived int64, result room.Result) {
	r := matched(id, ticket)
	r.Result, r.Judge, r.Completes, r.SentAt, r.Received = result, false, false, sent, arrived
	b.write(1, r)
}

// reportOf returns the days that begin at bounds and end at the next one.
func reportOf(t *testing.T, l *ledger.Ledger, id room.ID, bounds ...int64) []read.Day {
	t.Helper()
	var spans []read.ReportSpan
	for i, ends := range bounds[1:] {
		spans = append(spans, read.ReportSpan{Begins: bounds[i], Ends: ends, Day: i, Hour: -1})
	}
	days, hours, err := l.Report(t.Context(), id, spans)
	require.NoError(t, err)
	require.Empty(t, hours)
	return days
}

// emptyDay is a day on which nothing happened.
func emptyDay() read.Day {
	return read.Day{Outcomes: map[room.Outcome]int{}, WaitP50: -1, WaitP95: -1, HoldP50: -1,
		CodeDelayP50: -1, CodeDelayP95: -1}
}

func TestAReportCountsPlacesOnTheDaysOnWhichTheyBeganAndEnded(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for ticket, p := range []life{
			1:  {joined: 99, ended: 100, outcome: room.Cancelled}, // the day before
			2:  {joined: 100, granted: 101, ended: 110, outcome: room.Completed},
			3:  {joined: 100, granted: 110, ended: 120, outcome: room.Completed},
			4:  {joined: 100, granted: 120, ended: 125, outcome: room.Expired},
			5:  {joined: 100, granted: 125, ended: 150, outcome: room.Forced},
			6:  {joined: 140, ended: 155, outcome: room.Removed},
			7:  {joined: 140, ended: 199, outcome: room.Dropped},
			8:  {joined: 199, ended: 300, outcome: room.Cancelled}, // and the day after the next
			9:  {joined: 250, granted: 250},                        // it still holds the lock
			10: {joined: 300},
		} {
			if ticket > 0 {
				b.writePlace(int64(ticket), p)
			}
		}
		require.NoError(t, l.Drain(t.Context(), here))
		got := reportOf(t, l, here, 100, 200, 300, 400, 500)
		first, second, third := emptyDay(), emptyDay(), emptyDay()
		first.Joined, second.Joined, third.Joined = 7, 1, 1
		first.Outcomes = map[room.Outcome]int{room.Cancelled: 1, room.Completed: 2, room.Expired: 1,
			room.Forced: 1, room.Removed: 1, room.Dropped: 1}
		third.Outcomes = map[room.Outcome]int{room.Cancelled: 1}
		first.WaitP50, first.WaitP95, first.HoldP50 = 10, 25, 9 // of 1, 10, 20, 25 and of 5, 9, 10, 25
		require.Equal(t, []read.Day{first, second, third, emptyDay()}, got)

		got = reportOf(t, l, "elsewhere", 100, 200)
		require.Equal(t, []read.Day{emptyDay()}, got)
	})
}

func TestAReportHasWhatALossEnded(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), joined(2))
		b.write(9, room.Record{Type: "epoch", At: 150},
			room.Record{Type: "joined", At: 150, Ticket: 3, Seller: "s-2"})
		require.NoError(t, l.Drain(t.Context(), here))
		got := reportOf(t, l, here, 0, 100, 200)
		first, second := emptyDay(), emptyDay()
		first.Joined, first.WaitP50, first.WaitP95 = 2, 0, 0
		second.Joined, second.Outcomes = 1, map[room.Outcome]int{room.Lost: 2}
		require.Equal(t, []read.Day{first, second}, got, "a lost lease was not held for so long")
	})
}

func TestAReportHasTheWaitsOfLeasesThatDoNotHaveTheirJoin(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.writePlace(1, life{joined: 10, granted: 40, ended: 50, outcome: room.Completed})
		b.writePlace(2, life{joined: 20, granted: 60, ended: 70, outcome: room.Completed})
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"10", "20"}, column(t, l.DB(), `SELECT joined_at FROM leases ORDER BY fence`))
		// The first lease is as an earlier version wrote it; the second one does not need its place.
		for _, change := range []string{`UPDATE leases SET joined_at = NULL WHERE fence = 1000`,
			`UPDATE places SET joined_at = NULL WHERE ticket = 2`} {
			_, err := l.DB().Exec(change)
			require.NoError(t, err)
		}
		got := reportOf(t, l, here, 0, 100)
		require.Equal(t, [2]int64{30, 40}, [2]int64{got[0].WaitP50, got[0].WaitP95})
	})
}

func TestAReportHasNoHoldOfAnUnclaimedTurn(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, room.Record{Type: "joined", At: 10, Ticket: 1, Seller: "s-1"},
			room.Record{Type: "granted", At: 20, Ticket: 1, Seller: "s-1", Fence: 1000, GrantedAt: 20},
			room.Record{Type: "ended", At: 50, Ticket: 1, Seller: "s-1", Fence: 1000, Outcome: room.Unclaimed,
				EndedAt: 50})
		require.NoError(t, l.Drain(t.Context(), here))
		got := reportOf(t, l, here, 0, 100)
		day := emptyDay()
		day.Joined, day.WaitP50, day.WaitP95 = 1, 10, 10
		require.Equal(t, []read.Day{day}, got)
	})
}

func TestAReportCountsMessagesAsTheyBelongNow(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, over(1)...)
		b.write(1, over(2)...)
		b.writeMessage("a", 1, 100, 103, room.Matched)
		b.writeMessage("b", 1, 110, 117, room.Matched)
		b.writeMessage("c", 1, 0, 120, room.Matched)    // its sending is not known
		b.writeMessage("d", 1, 130, 129, room.Matched)  // the carrier's clock is ahead
		b.writeMessage("e", 1, 120, 199, room.Late)     // its lease was over
		b.writeMessage("f", 1, 199, 200, room.Matched)  // of the next day
		b.writeMessage("g", 1, 140, 150, room.Matched)  // its holder rejects it
		b.write(1, unmatched("h", 160, room.Ambiguous)) // assigned, but too late to be shown
		b.write(1, unmatched("i", 161, room.Ambiguous), unmatched("j", 162, room.NoLease))
		greeting := matched("k", 1) // no code is in it
		greeting.Judge, greeting.Code, greeting.SentAt, greeting.Received = false, false, 163, 170
		b.write(1, greeting, rejected("g", 1), assignLate("h", 2, 300))
		require.NoError(t, l.Drain(t.Context(), here))
		got := reportOf(t, l, here, 100, 200, 300)
		first, second := emptyDay(), emptyDay()
		first.Codes, first.CodeDelayP50, first.CodeDelayP95 = 4, 3, 7 // of 0, 3 and 7
		first.Ambiguous, first.Rejected, first.Late = 1, 1, 2
		second.Codes, second.CodeDelayP50, second.CodeDelayP95 = 1, 1, 1
		require.Equal(t, []read.Day{first, second}, got)
	})
}

func TestAReportsHoursAreOfAllItsDays(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for ticket, p := range []life{
			1: {joined: 101, granted: 103, ended: 110, outcome: room.Completed},
			2: {joined: 102, granted: 150, ended: 160, outcome: room.Expired}, // joined within another hour
			3: {joined: 203, granted: 209, ended: 210, outcome: room.Completed},
			4: {joined: 260, ended: 270, outcome: room.Cancelled}, // within no hour
		} {
			if ticket > 0 {
				b.writePlace(int64(ticket), p)
			}
		}
		require.NoError(t, l.Drain(t.Context(), here))
		days, hours, err := l.Report(t.Context(), here, []read.ReportSpan{
			{Begins: 100, Ends: 150, Day: 0, Hour: 9}, {Begins: 150, Ends: 200, Day: 0, Hour: 23},
			{Begins: 200, Ends: 250, Day: 1, Hour: 9}, {Begins: 250, Ends: 300, Day: 1, Hour: -1}})
		require.NoError(t, err)
		require.Equal(t, []int{2, 2}, []int{days[0].Joined, days[1].Joined})
		require.Equal(t, [2]int64{2, 48}, [2]int64{days[0].WaitP50, days[0].WaitP95})
		want := make([]read.Day, 24)
		for i := range want {
			want[i] = emptyDay()
		}
		want[9].Joined, want[9].Outcomes = 3, map[room.Outcome]int{room.Completed: 2}
		want[9].WaitP50, want[9].WaitP95, want[9].HoldP50 = 2, 6, 1 // of 2 and 6, and of 7 and 1
		want[23].Outcomes = map[room.Outcome]int{room.Expired: 1}
		want[23].WaitP50, want[23].WaitP95, want[23].HoldP50 = 48, 48, 10
		require.Equal(t, want, hours)
	})
}
