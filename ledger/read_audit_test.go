package ledger_test

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

func act(at int64, who, action string) room.Record {
	return room.Record{Type: "action", At: at, Who: who, Action: action, Reason: "why " + action}
}

// did returns the actions of a page of the audit, and the cursor of the next page.
func did(t *testing.T, l *ledger.Ledger, f read.AuditFilter) (list []string, next string) {
	t.Helper()
	rows, next, err := l.Audit(t.Context(), f)
	require.NoError(t, err)
	for _, r := range rows {
		list = append(list, fmt.Sprint(cmp.Or(r.Room, "-"), " ", int64(r.At), " ", r.Who, " ", r.Name))
	}
	return list, next
}

func TestAnAuditSaysWhatSupportDidInAllRooms(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		release := act(20, "kim", "release")
		release.Ticket, release.Fence, release.Seller = 1, 1000, "s-1"
		b.write(1, release)
		b.journal.write("other", 1, act(30, "lee", "pause"))
		b.journal.write(room.SupportRoom, 1, act(10, "kim", "sign-in"), act(40, "x\x00\xff", "sign-in-failed"))
		for _, id := range []room.ID{here, "other", room.SupportRoom} {
			require.NoError(t, l.Drain(t.Context(), id))
		}
		for name, c := range map[string]struct {
			filter read.AuditFilter
			want   []string
		}{
			"everything": {read.AuditFilter{},
				[]string{"- 40 x\uFFFD\uFFFD sign-in-failed", "other 30 lee pause", "integration 20 kim release",
					"- 10 kim sign-in"}},
			"of somebody": {read.AuditFilter{Who: "kim"},
				[]string{"integration 20 kim release", "- 10 kim sign-in"}},
			"of nobody":    {read.AuditFilter{Who: "\x00"}, nil},
			"of an action": {read.AuditFilter{Action: "pause"}, []string{"other 30 lee pause"}},
			"in a room": {read.AuditFilter{Room: "support"},
				[]string{"- 40 x\uFFFD\uFFFD sign-in-failed", "- 10 kim sign-in"}},
			"in some time": {read.AuditFilter{From: 20, To: 40},
				[]string{"other 30 lee pause", "integration 20 kim release"}},
			"and all of it": {read.AuditFilter{Who: "kim", Room: here, From: 20, To: 21},
				[]string{"integration 20 kim release"}},
		} {
			got, next := did(t, l, c.filter)
			require.Equal(t, c.want, got, name)
			require.Empty(t, next, name)
		}
		rows, _, err := l.Audit(t.Context(), read.AuditFilter{Room: here})
		require.NoError(t, err)
		require.Equal(t, []history.Audited{{Room: history.Word(here),
			Action: history.Action{Epoch: 1, Who: "kim", Name: "release",
				Reason: "why release", Ticket: 1, Fence: 1000, At: 20, Seller: "s-1"}}}, rows)
	})
}

func TestAnAuditIsReadInPagesWithoutGapsOrRepeats(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for n := range int64(25) { // many at once
			for _, id := range []room.ID{here, "other", "rooms.third"} {
				b.journal.write(id, n/7, act(n/5, "kim", fmt.Sprint("a", n)), act(n/5, "lee", fmt.Sprint("b", n)))
			}
		}
		for _, id := range []room.ID{here, "other", "rooms.third"} {
			require.NoError(t, l.Drain(t.Context(), id))
		}
		for _, f := range []read.AuditFilter{{}, {Who: "kim"}, {Room: here}, {From: 2, To: 4}} {
			f.Limit = 1000
			whole, next := did(t, l, f)
			require.Empty(t, next)
			var paged []string
			for f.Limit = 7; ; {
				var some []string
				some, f.Cursor = did(t, l, f)
				paged = append(paged, some...)
				if f.Cursor == "" {
					break
				}
				require.Len(t, some, 7)
			}
			require.Equal(t, whole, paged)
		}
		for _, cursor := range []string{"nonsense", "e30", "bnVsbA", "W10"} {
			_, _, err := l.Audit(t.Context(), read.AuditFilter{Cursor: cursor})
			require.ErrorIs(t, err, read.ErrCursor)
		}
	})
}

func TestAnActionIsKeptUnderTheSellerItWasFor(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.life(1)
		said, byTicket, byFence, room := act(30, "kim", "said"), act(31, "kim", "ticket"), act(32, "kim", "fence"),
			act(33, "kim", "pause")
		said.Ticket, said.Seller, byTicket.Ticket, byFence.Fence = 77, "s-9", 1, 1000
		b.write(1, said, byTicket, byFence, room)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"said s-9", "ticket s-1", "fence s-1", "pause "}, column(t, l.DB(), `SELECT
			action || ' ' || seller FROM actions ORDER BY at`))
		p, err := l.History(t.Context(), here, read.Filter{Seller: "s-1"})
		require.NoError(t, err)
		require.Len(t, p.Actions, 2)
	})
}

func TestAnActionNamesItsMessage(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		assign, pause := act(30, "kim", "assign"), act(31, "kim", "pause")
		assign.Ticket, assign.Fence, assign.MessageID = 1, 1000, "m\x00\xff"
		b.write(1, assign, pause)
		require.NoError(t, l.Drain(t.Context(), here))
		p, err := l.History(t.Context(), here, read.Filter{})
		require.NoError(t, err)
		require.Equal(t, []history.Action{
			{Epoch: 1, Who: "kim", Name: "assign", Reason: "why assign", Ticket: 1, Fence: 1000,
				MessageID: "m\uFFFD\uFFFD", At: 30},
			{Epoch: 1, Who: "kim", Name: "pause", Reason: "why pause", At: 31}}, p.Actions)
		rows, _, err := l.Audit(t.Context(), read.AuditFilter{})
		require.NoError(t, err)
		require.Equal(t, []history.Audited{{Room: history.Word(here), Action: p.Actions[1]},
			{Room: history.Word(here), Action: p.Actions[0]}}, rows)
	})
}

func TestAnActionSaysWhatItWasBeyondItsName(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		extend, move, pause := act(30, "kim", "extend"), act(31, "kim", "move"), act(32, "kim", "pause")
		extend.Seconds, move.FromPosition, move.ToPosition = 60, 3, 1
		b.write(1, extend, move, pause)
		require.NoError(t, l.Drain(t.Context(), here))
		want := [][3]history.Number{{60, 0, 0}, {0, 3, 1}, {}}
		p, err := l.History(t.Context(), here, read.Filter{})
		require.NoError(t, err)
		rows, _, err := l.Audit(t.Context(), read.AuditFilter{})
		require.NoError(t, err)
		for i, detail := range want {
			a := p.Actions[i]
			require.Equal(t, detail, [3]history.Number{a.Seconds, a.From, a.To})
			require.Equal(t, a, rows[len(rows)-1-i].Action)
		}
		require.Equal(t, []string{`{"seconds":60}`, `{"from":3,"to":1}`, ""}, column(t, l.DB(), `SELECT detail
			FROM actions ORDER BY at`))
		_, err = l.DB().Exec(`UPDATE actions SET detail = 'none' WHERE at = 30`)
		require.NoError(t, err)
		p, err = l.History(t.Context(), here, read.Filter{})
		require.NoError(t, err, "what was edited is the verification's to find")
		require.Zero(t, p.Actions[0].Seconds)
	})
}
