package ledger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

const (
	days    = int64(24 * time.Hour / time.Millisecond)
	seconds = int64(time.Second / time.Millisecond)
)

// turn journals a place that held the lock: joined, granted, completed by a message, and an action of support
// about it.
func (b *bench) turn(id room.ID, ticket, at int64) {
	fence, seller, m := at*1000, fmt.Sprintf("s-%d", ticket),
		room.MessageNote{MessageID: fmt.Sprintf("m-%d", at), From: "1588", Text: "code", SentAt: at + 2,
			Received: at + 3}
	records := []room.Record{
		{Type: "joined", At: at, Ticket: ticket, Seller: seller},
		{Type: "granted", At: at + 1, Ticket: ticket, Seller: seller, Fence: fence, GrantedAt: at + 1,
			ExpiresAt: at + 120*seconds},
		{Type: "action", At: at + 2, Ticket: ticket, Fence: fence, Who: "kim", Action: "extend",
			Reason: "asked for it", Seller: seller},
		{Type: "message", At: at + 3, MessageNote: m, Result: room.Matched, Judge: true, Completes: true,
			Code: true, Ticket: ticket, Fence: fence,
			Seller: seller, GrantedAt: at + 1, EndedAt: at + 3},
		{Type: "ended", At: at + 3, Ticket: ticket, Seller: seller, Fence: fence, Outcome: room.Completed,
			EndedAt: at + 3},
	}
	b.at(id, at, records...)
}

// at journals records as one entry with a time.
func (b *bench) at(id room.ID, at int64, records ...room.Record) {
	b.journal.add(id, room.Entry{ID: fmt.Sprintf("%d-0", at), Epoch: 7, Records: records})
}

func (b *bench) retaining(t testing.TB, d time.Duration) *ledger.Ledger {
	c := b.config()
	c.Retention = d
	return b.openWith(t, c)
}

// recorded has the tables with history, and the query for the number of rows from before a time.
var recorded = map[string]string{
	"leases": "granted_at", "places": "ended_at", "verifications": "ended_at", "messages": "received_at",
	"actions": "at", "timeline": "at", "incidents": "at",
	"attributions": "at", "outbox_tasks": "updated_at",
}

func older(t *testing.T, l *ledger.Ledger, than int64) map[string]int {
	t.Helper()
	found := make(map[string]int)
	for table, at := range recorded {
		only := ""
		if table == "actions" {
			only = " AND salt <> ''" // the audit's first row stays, without texts
		}
		if n := count(t, l, fmt.Sprintf("%s WHERE %s < %d%s", table, at, than, only)); n > 0 {
			found[table] = n
		}
	}
	return found
}

func TestWhatIsOlderThanTheRetentionGoesWithAllThatHangsOnItAndNothingElse(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		now := b.now.Now().UnixMilli()
		horizon := now - 400*days
		l := b.retaining(t, 400*24*time.Hour)
		for i := range int64(10) {
			b.turn(here, i+1, horizon-30*days+i*days)
		}
		straddles := horizon - 5*seconds // joined before, ended after
		b.at(here, straddles, room.Record{Type: "joined", At: straddles, Ticket: 31, Seller: "s-31"})
		b.at(here, straddles+1, room.Record{Type: "granted", At: straddles + 1, Ticket: 31, Seller: "s-31",
			Fence: straddles * 1000, GrantedAt: straddles + 1, ExpiresAt: horizon + days})
		b.at(here, horizon+60*seconds, room.Record{Type: "ended", At: horizon + 60*seconds, Ticket: 31,
			Seller: "s-31", Fence: straddles * 1000,
			Outcome: room.Expired, EndedAt: horizon + 60*seconds})
		b.turn(here, 32, now-days)
		b.at(here, horizon-days, room.Record{Type: "incident", At: horizon - days, Action: "carrier_clock",
			Reason: "its clock is off"},
			room.Record{Type: "message", At: horizon - days,
				MessageNote: room.MessageNote{MessageID: "nobodys", Received: horizon - days}, Result: room.Unmatched,
				Reason: string(room.NoLease)},
			room.Record{Type: "claimed", At: horizon - days, MessageNote: room.MessageNote{MessageID: "unknown"},
				Seller: "s-9", Ticket: 9, Fence: 1, GrantedAt: 3, EndedAt: 2})
		b.turn("another", 1, horizon-days)
		require.NoError(t, l.Drain(t.Context(), here))
		require.NoError(t, l.Drain(t.Context(), "another"))
		_, err := l.DB().Exec(`UPDATE outbox_tasks SET state = 'done', updated_at = created_at`)
		require.NoError(t, err)
		kept := count(t, l, fmt.Sprintf("timeline WHERE at >= %d", straddles))
		before, err := l.Known(t.Context(), here)
		require.NoError(t, err)
		require.Len(t, older(t, l, horizon-6*seconds), len(recorded), "there is something of each kind to go")

		rows, err := l.Trim(t.Context())
		require.NoError(t, err)
		require.NotZero(t, rows)
		require.Empty(t, older(t, l, horizon-6*seconds))
		require.Equal(t, 2, count(t, l, "places"), "who stood there at the horizon is kept whole")
		require.Equal(t, 2, count(t, l, "leases"))
		require.Equal(t, 1, count(t, l, "messages"))
		require.Equal(t, kept, count(t, l, "timeline"))
		after, err := l.Known(t.Context(), here)
		require.NoError(t, err)
		require.Equal(t, before, after)
		gone, err := l.Known(t.Context(), "another")
		require.NoError(t, err)
		require.Equal(t, room.Recorded{Fence: (horizon - days) * 1000, Ticket: 1}, gone,
			"of a room of which nothing is left too")
		require.Contains(t, b.log.String(), "trimmed what is older")

		b.turn("another", 2, horizon-2*days) // from a Redis that lost the handoff
		require.NoError(t, l.Drain(t.Context(), "another"))
		require.Equal(t, 1, count(t, l, "incidents WHERE room = 'another' AND kind = 'match_refused'"))
		_, err = l.DB().Exec(fmt.Sprintf(`INSERT INTO verifications (room, fence, epoch, ticket, message_id,
			granted_at, ended_at)
			VALUES ('another', %d, 7, 1, 'again', %d, %d)`, (horizon-days)*1000, now, now))
		require.ErrorContains(t, err, "not above the highest settled one")
		_, err = l.DB().Exec(fmt.Sprintf(`INSERT INTO verifications (room, fence, epoch, ticket, message_id,
			granted_at, ended_at)
			VALUES ('another', %d, 7, 1, 'again', %d, %d)`, now*1000, horizon-days, now))
		require.ErrorContains(t, err, "overlaps")
	})
}

func TestTheTrimPositionNeverGoesBack(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.retaining(t, 48*time.Hour)
		b.turn(here, 1, b.now.Now().UnixMilli()-3*days)
		require.NoError(t, l.Drain(t.Context(), here))
		_, err := l.Trim(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, count(t, l, "high_water"))
		for _, statement := range []string{
			`DELETE FROM high_water`, `UPDATE high_water SET fence = 1`, `UPDATE high_water
				SET settled = 0`, `UPDATE high_water SET settled_until = 0`,
			`UPDATE high_water SET ticket = 0`, `UPDATE high_water SET epoch = 0`, `UPDATE high_water
				SET room = 'other'`,
		} {
			_, err := l.DB().Exec(statement)
			require.Error(t, err, statement)
		}
		if strings.HasPrefix(b.url, "sqlite:") {
			_, err = l.DB().Exec(`INSERT OR REPLACE INTO high_water (room) VALUES ('integration')`)
			require.Error(t, err)
		}
	})
}

func TestOneReplicaTrimsAtATimeAndOnceAnHour(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		now := b.now.Now().UnixMilli()
		one, two := b.retaining(t, 48*time.Hour), b.retaining(t, 48*time.Hour)
		for i := range int64(6) {
			b.turn(room.ID(fmt.Sprintf("stock:%d", i)), 1, now-3*days)
			require.NoError(t, one.Drain(t.Context(), room.ID(fmt.Sprintf("stock:%d", i))))
		}
		whole := count(t, one, "timeline") + count(t, one, "leases") + count(t, one, "places") +
			count(t, one, "messages") + count(t, one, "verifications") // of actions the only one stays
		var rows [2]int64
		var both errgroup.Group
		for i, l := range []*ledger.Ledger{one, two} {
			both.Go(func() (err error) { rows[i], err = l.Trim(t.Context()); return err })
		}
		require.NoError(t, both.Wait())
		require.Equal(t, int64(whole), max(rows[0], rows[1]))
		require.Zero(t, min(rows[0], rows[1]), "the other one has had no turn")
		b.turn("stock:1", 2, now-3*days+10)
		require.NoError(t, two.Drain(t.Context(), "stock:1"))
		again, err := two.Trim(t.Context())
		require.NoError(t, err)
		require.Zero(t, again, "the next round is due in an hour")
		_, err = one.DB().Exec(`UPDATE retention SET until = 0`) // the hour is over
		require.NoError(t, err)
		again, err = two.Trim(t.Context())
		require.NoError(t, err)
		require.NotZero(t, again)
	})
}

func TestWhatAJournalHasStillIsTakenInBeforeAnythingAsOldIsTrimmed(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		now := b.now.Now().UnixMilli()
		l := b.retaining(t, 48*time.Hour)
		b.turn(here, 1, now-4*days)
		require.NoError(t, l.Drain(t.Context(), here))
		b.turn(here, 2, now-3*days) // the database was away for as long
		rows, err := l.Trim(t.Context())
		require.NoError(t, err)
		require.Zero(t, rows)
		require.Equal(t, 1, count(t, l, "leases"))
	})
}

func TestTheHistoryStaysRightWhileOldRowsGoAndNewOnesCome(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		now := b.now.Now().UnixMilli()
		l, writer := b.retaining(t, 400*24*time.Hour), b.retaining(t, 400*24*time.Hour)
		for i := range int64(250) { // two steps
			b.turn(here, i+1, now-500*days+i*60*seconds)
		}
		require.NoError(t, l.Drain(t.Context(), here))
		live := []room.ID{here, "live:1"}
		const turns = 6
		var all errgroup.Group
		for _, id := range live {
			all.Go(func() error {
				for i := range int64(turns) {
					b.turn(id, 1000+i, now-60*60*seconds+i*200)
					if err := writer.Drain(t.Context(), id); err != nil {
						return fmt.Errorf("the drain was held up: %w", err)
					}
					page, err := l.History(t.Context(), id, read.Filter{From: now - days, Limit: 1000})
					if err != nil {
						return err
					}
					for _, rows := range []int{len(page.Leases), len(page.Places), len(page.Messages), len(page.Actions)} {
						if rows != int(i+1) {
							return fmt.Errorf("%d turns in %s, and the history has %d rows of a kind", i+1, id, rows)
						}
					}
				}
				return nil
			})
		}
		all.Go(func() error { _, err := l.Trim(t.Context()); return err })
		for range 5 {
			whole(t, l, now-499*days)
		}
		require.NoError(t, all.Wait())
		found := older(t, l, now-400*days)
		delete(found, "outbox_tasks") // no worker does them in this test
		require.Empty(t, found)
		for _, id := range live {
			require.Equal(t, turns, count(t, l, fmt.Sprintf("leases WHERE room = '%s' AND outcome = 'completed'", id)))
			require.Equal(t, turns, count(t, l, fmt.Sprintf("verifications WHERE room = '%s'", id)))
		}
		for _, trouble := range []string{"locked", "away", "parked"} {
			require.NotContains(t, b.log.String(), trouble)
		}
	})
}

// whole requires that every lease from before a time that is left still has its place and its message.
func whole(t *testing.T, l *ledger.Ledger, before int64) {
	t.Helper()
	page, err := l.History(t.Context(), here, read.Filter{To: before, Limit: 1000})
	require.NoError(t, err)
	if page.Next != "" || len(page.Leases) == 0 {
		return // the page ends in the middle of one
	}
	if len(page.Places) == 0 { // a step came between: it deleted the leases too
		page, err = l.History(t.Context(), here, read.Filter{To: before, Limit: 1000})
		require.NoError(t, err)
		require.Empty(t, page.Leases)
		return
	}
	kept := make(map[int64]bool)
	for _, row := range page.Places {
		kept[row.Ticket] = true
	}
	// the parts of a page are read in turn, so a step of the trim may run between them
	for _, row := range page.Leases[1:] {
		require.True(t, kept[row.Ticket] || row.Ticket < page.Places[0].Ticket, "lease of ticket %d", row.Ticket)
	}
}
