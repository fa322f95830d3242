package ledger_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// belonging returns the messages of the history, with the place and lease of each; with a seller only that
// seller's.
func belonging(t *testing.T, l *ledger.Ledger, seller string) (list []string) {
	t.Helper()
	f := read.Filter{Seller: seller, Limit: 1} // pages are the same as one
	for {
		p, err := l.History(t.Context(), here, f)
		require.NoError(t, err)
		for _, m := range p.Messages {
			list = append(list, fmt.Sprint(m.MessageID, " ", m.Result, " ", m.Reason, " ", int64(m.Ticket), "/", int64(m.Fence)))
		}
		if f.Cursor = string(p.Next); f.Cursor == "" {
			return list
		}
	}
}

func rejectedAt(messageID string, ticket, at int64) room.Record {
	r := rejected(messageID, ticket)
	r.At = at
	return r
}

// going returns a copy of a message's record, in which the message does not end its lease.
func going(r room.Record, at int64) room.Record {
	r.Completes, r.At, r.EndedAt = false, at, at
	return r
}

func TestHistoryShowsWhereAMessageBelongsNow(t *testing.T) {
	const nowhere, first, second = "m unmatched rejected 0/0", "m matched  1/1000", "m matched  2/2000"
	came := unmatched("m", 15, room.NotExpected)
	open := []room.Record{joined(1), granted(1)}
	live := slices.Clip(append(open[:2:2], came))
	late := matched("m", 1)
	late.Result, late.Judge, late.Completes = room.Late, false, false
	for name, c := range map[string]struct {
		records []room.Record
		want    string
		seller  string // the only seller it is found under
	}{
		"claimed":                         {append(live, claim("m", 1)), first, "s-1"},
		"claimed of a lease that goes on": {append(live, going(claim("m", 1), 16)), first, "s-1"},
		"assigned while the lease was live": {append(live, assign("m", 1), ended(1, room.Completed)), first,
			"s-1"},
		"assigned after it": {append(over(1), came, assignLate("m", 1, 40)), "m late  1/1000",
			"s-1"},
		"rejected":                {append(open[:2:2], matched("m", 1), rejected("m", 1)), nowhere, ""},
		"rejected that came late": {append(open[:2:2], late, rejectedAt("m", 1, 30)), nowhere, ""},
		"rejected, then claimed by the next": {append(open[:2:2], matched("m", 1), rejected("m", 1), joined(2),
			granted(2), claim("m", 2)), second, "s-2"},
		"rejected, then assigned": {append(open[:2:2], matched("m", 1), rejected("m", 1), joined(2),
			granted(2), assign("m", 2)), second, "s-2"},
		"assigned, then rejected": {append(over(1), came, assignLate("m", 1, 40),
			rejectedAt("m", 1, 50)), nowhere, ""},
		"assigned again": {append(over(1), came, assignLate("m", 1, 40), rejectedAt("m", 1, 50),
			assignLate("m", 2, 60)), "m late  2/2000", "s-2"},
		"given back": {append(live, going(assign("m", 1), 16), rejectedAt("m", 1, 17),
			going(assign("m", 1), 18)), first, "s-1"},
		"rejected twice": {append(live, going(assign("m", 1), 16), rejectedAt("m", 1, 17),
			going(assign("m", 1), 18), rejectedAt("m", 1, 19)), nowhere, ""},
		"refused an assignment": {append(live, assignLate("m", 0, 60)), "m unmatched not_expected 0/0",
			""},
		"refused a claim": {append(live, ended(1, room.Cancelled), claim("m", 1)),
			"m unmatched not_expected 0/0", ""},
		"refused another assignment":      {append(live, claim("m", 1), assignLate("m", 2, 60)), first, "s-1"},
		"rejected by one whose it is not": {append(live, claim("m", 1), rejectedAt("m", 2, 60)), first, "s-1"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				l := b.open(t)
				for _, r := range c.records {
					b.write(1, r)
				}
				require.NoError(t, l.Drain(t.Context(), here))
				require.Equal(t, []string{c.want}, belonging(t, l, ""))
				for _, seller := range []string{"s-1", "s-2"} {
					require.Equal(t, seller == c.seller, len(belonging(t, l, seller)) == 1, seller)
				}
				require.Zero(t, count(t, l, "parked"))
			})
		})
	}
}

func TestAMessageThatBelongsElsewhereKeepsItsPlaceAndEpochInTheHistory(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, unmatched("a", 20, room.NoLease), unmatched("b", 20, room.NoLease),
			unmatched("c", 25, room.NoLease))
		b.write(2, assignLate("b", 1, 40), assignLate("a", 2, 41))
		b.write(2, rejectedAt("a", 2, 50))
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"a unmatched rejected 0/0", "b late  1/1000", "c unmatched no_lease 0/0"},
			belonging(t, l, ""))
		p, err := l.History(t.Context(), here, read.Filter{})
		require.NoError(t, err)
		require.Equal(t, history.Message{Epoch: 2, MessageID: "b", Result: "late", Ticket: 1, Fence: 1000,
			SentAt: 19, ReceivedAt: 20}, p.Messages[1])
		require.EqualValues(t, 1, p.Messages[0].Epoch)
		p, err = l.History(t.Context(), here, read.Filter{Seller: "s-1", From: 20, To: 21})
		require.NoError(t, err)
		require.Len(t, p.Messages, 1)
	})
}
