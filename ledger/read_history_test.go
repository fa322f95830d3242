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

// flat returns the rows of a page in one list.
func flat(p history.Page) (rows []string) {
	for _, r := range p.Leases {
		rows = append(rows, fmt.Sprint("lease ", r))
	}
	for _, r := range p.Places {
		rows = append(rows, fmt.Sprint("place ", r))
	}
	for _, r := range p.Messages {
		rows = append(rows, fmt.Sprint("message ", r))
	}
	for _, r := range p.Actions {
		rows = append(rows, fmt.Sprint("action ", r))
	}
	return rows
}

func TestHistoryIsReadInPagesWithoutGapsOrRepeats(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for ticket := range int64(30) {
			b.life(ticket + 1)
		}
		for n := range 12 { // many in one millisecond
			b.write(1, room.Record{Type: "joined", At: 77, Ticket: int64(100 + n), Seller: "crowd"})
		}
		b.write(1, room.Record{Type: "action", At: 77, Who: "kim", Action: "pause", Reason: "test"})
		require.NoError(t, l.Drain(t.Context(), here))
		whole, err := l.History(t.Context(), here, read.Filter{Limit: 1000})
		require.NoError(t, err)
		require.Empty(t, whole.Next)
		require.Len(t, flat(whole), 3*30+12+1)
		require.Equal(t, history.Lease{Epoch: 1, Fence: 1000, Ticket: 1, Seller: "s-1", GrantedAt: 10,
			EndedAt: 20,
			Outcome: "completed"}, whole.Leases[0])
		require.Equal(t, history.Message{Epoch: 1, MessageID: "m-1", Result: "matched", Ticket: 1, Fence: 1000,
			SentAt: 15, ReceivedAt: 19}, whole.Messages[0])

		require.Equal(t, flat(whole), flat(inPages(t, l, read.Filter{Limit: 7})))
		back := inPages(t, l, read.Filter{Limit: 7, Latest: true})
		slices.Reverse(back.Leases)
		slices.Reverse(back.Places)
		slices.Reverse(back.Messages)
		slices.Reverse(back.Actions)
		require.Equal(t, flat(whole), flat(back), "the same from behind")
	})
}

// inPages reads a history page by page.
func inPages(t *testing.T, l *ledger.Ledger, f read.Filter) (together history.Page) {
	t.Helper()
	for {
		p, err := l.History(t.Context(), here, f)
		require.NoError(t, err)
		together.Leases = append(together.Leases, p.Leases...)
		together.Places = append(together.Places, p.Places...)
		together.Messages = append(together.Messages, p.Messages...)
		together.Actions = append(together.Actions, p.Actions...)
		if f.Cursor = string(p.Next); f.Cursor == "" {
			return together
		}
		require.Len(t, flat(p), f.Limit)
	}
}

func TestHistoryIsNarrowedBySellerAndTime(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for ticket := range int64(5) {
			b.life(ticket + 1)
		}
		b.write(1, room.Record{Type: "action", At: 31, Who: "kim", Action: "extend", Reason: "r", Ticket: 3,
			Fence: 3000})
		b.write(1, room.Record{Type: "action", At: 41, Who: "kim", Action: "extend", Reason: "r", Fence: 4000})
		require.NoError(t, l.Drain(t.Context(), here))
		p, err := l.History(t.Context(), here, read.Filter{Seller: "s-4"})
		require.NoError(t, err)
		require.Equal(t, []int{1, 1, 1, 1}, []int{len(p.Leases), len(p.Places), len(p.Messages), len(p.Actions)})
		p, err = l.History(t.Context(), here, read.Filter{From: 20, To: 40})
		require.NoError(t, err)
		require.Equal(t, []int{2, 2, 2, 1}, []int{len(p.Leases), len(p.Places), len(p.Messages), len(p.Actions)})
		p, err = l.History(t.Context(), "other", read.Filter{})
		require.NoError(t, err)
		require.Empty(t, flat(p))
		_, err = l.History(t.Context(), here, read.Filter{Cursor: "nonsense"})
		require.ErrorIs(t, err, read.ErrCursor)
	})
}
