package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
)

func TestATimelineSaysWhatWasAskedAndClaimed(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1))
		b.write(1, room.Record{Type: "asked", At: 13, Ticket: 1, Seller: "s-1", Fence: 1000, Asks: 2})
		b.write(1, unmatched("m", 15, room.NotExpected))
		b.write(1, claim("m", 1), ended(1, room.Completed))
		twin := matched("twin", 1)
		twin.Judge, twin.Completes, twin.Duplicate, twin.At = false, false, true, 25
		b.write(1, twin)
		b.write(1, rejected("m", 1))
		require.NoError(t, l.Drain(t.Context(), here))
		rows, err := l.Story(t.Context(), read.Story{Room: here, Seller: "s-1"})
		require.NoError(t, err)
		details := map[string]string{}
		for _, r := range rows {
			details[r.Kind] = string(r.Detail)
		}
		require.JSONEq(t, `{"asks":2}`, details["asked"])
		require.JSONEq(t, `{"ended_at":20,"message_id":"m","result":"matched"}`, details["claimed"])
		require.JSONEq(t, `{"ended_at":20,"message_id":"twin","result":"matched","duplicate":true}`,
			details["message"])
		require.JSONEq(t, `{"message_id":"m"}`, details["rejected"])
		require.Contains(t, details["incident"], "message_rejected")
		require.Equal(t, []string{`{"message_id":"m","result":"unmatched","reason":"not_expected"}`},
			column(t, l.DB(),
				`SELECT detail FROM timeline WHERE kind = 'message' AND seller = ''`))
		p, err := l.History(t.Context(), here, read.Filter{})
		require.NoError(t, err)
		require.Equal(t, history.Message{Epoch: 1, MessageID: "m", Result: "unmatched", Reason: "rejected",
			SentAt: 14, ReceivedAt: 15}, p.Messages[0], "where it belongs now")
	})
}

func TestASellersTimelineSaysWhyATurnWasLost(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1))
		b.write(1, ended(1, room.Expired))
		require.NoError(t, l.Drain(t.Context(), here))
		task := outbox.Task{UID: "evt_1", UpdatedAt: 25,
			Payload: column(t, l.DB(),
				`SELECT payload FROM outbox_tasks WHERE payload LIKE '{"type":"lock.ended"%'`)[0]}
		require.NoError(t, l.WebhookDelivered(t.Context(), task))
		require.NoError(t, l.WebhookDelivered(t.Context(), task))
		rows, err := l.Story(t.Context(), read.Story{Room: here, Seller: "s-1"})
		require.NoError(t, err)
		var kinds []string
		for _, r := range rows {
			kinds = append(kinds, r.Kind)
			require.EqualValues(t, 1, r.Epoch)
		}
		require.Equal(t, []string{"joined", "granted", "ended", "told"}, kinds)
		require.JSONEq(t, `{"outcome":"expired","ended_at":20}`, string(rows[2].Detail))
	})
}

// brief returns a short text for each event of a timeline.
func brief(rows []read.TimelineRow) (list []string) {
	for _, r := range rows {
		list = append(list, fmt.Sprint(r.Room, " ", r.At, " ", r.Kind))
	}
	return list
}

func TestAStoryHasWhatTheLedgerHasNotTakenInYetEachOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), joined(2))
		b.journal.failTrim = func() bool { return true }
		require.ErrorIs(t, l.Drain(t.Context(), here), errLost)
		b.journal.failTrim = nil
		move := act(12, "kim", "move")
		move.Ticket, move.Seller = 1, "s-1"
		b.write(1, move, room.Record{Type: "moved", At: 12, Ticket: 1, Seller: "s-1", Position: 3})
		b.journal.add(here, room.Entry{ID: "x", Odd: errors.New("records: not JSON")})
		b.write(1, ended(1, room.Expired))
		b.journal.write("other", 5, room.Record{Type: "joined", At: 11, Ticket: 4, Seller: "s-1"})

		all := read.Story{Seller: "s-1", Pending: []room.ID{here, "other"}}
		rows, err := l.Story(t.Context(), all)
		require.NoError(t, err)
		want := []string{"integration 10 joined", "integration 10 granted", "other 11 joined",
			"integration 12 action", "integration 12 moved",
			"integration 20 ended"}
		require.Equal(t, want, brief(rows))
		require.Equal(t, read.TimelineRow{Room: here, At: 12, Epoch: 1, Ticket: 1, Kind: "action",
			Entry:  "1763689000000-2",
			Detail: json.RawMessage(`{"who":"kim","action":"move","reason":"why move"}`)}, rows[3])
		for _, id := range all.Pending {
			require.NoError(t, l.Drain(t.Context(), id))
		}
		after, err := l.Story(t.Context(), all)
		require.NoError(t, err)
		require.Equal(t, rows, after, "it is the same once it is taken in")

		for name, c := range map[string]struct {
			story read.Story
			want  []string
		}{
			"a room":         {read.Story{Seller: "s-1", Room: "other", Pending: all.Pending}, want[2:3]},
			"since":          {read.Story{Seller: "s-1", From: 12}, want[3:]},
			"the latest":     {read.Story{Seller: "s-1", Limit: 2}, want[4:]},
			"nobody":         {read.Story{Seller: ""}, nil},
			"somebody else":  {read.Story{Seller: "s-3"}, nil},
			"no such seller": {read.Story{Seller: "\x00"}, nil},
		} {
			rows, err := l.Story(t.Context(), c.story)
			require.NoError(t, err, name)
			require.Equal(t, c.want, brief(rows), name)
		}
	})
}

// The journal's ids are numbers: the tenth of a millisecond follows the ninth.
func TestAStoryOfOneMillisecondIsInTheJournalsOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		var want []string
		for n := range 12 {
			b.write(1, room.Record{Type: fmt.Sprint("k", n), At: 5, Seller: "s-1"})
			want = append(want, fmt.Sprint("integration 5 k", n))
		}
		rows, err := l.Story(t.Context(), read.Story{Seller: "s-1", Pending: []room.ID{here}})
		require.NoError(t, err)
		require.Equal(t, want, brief(rows))
		require.NoError(t, l.Drain(t.Context(), here))
		rows, err = l.Story(t.Context(), read.Story{Seller: "s-1"})
		require.NoError(t, err)
		require.Equal(t, want, brief(rows))
	})
}

// leaving is a journal that is drained and trimmed just before the timeline reads it.
type leaving struct {
	*journal
	taken func()
}

func (j leaving) ReadJournal(ctx context.Context, id room.ID, n int) ([]room.Entry, error) {
	j.taken()
	return j.journal.ReadJournal(ctx, id, n)
}

func TestAStoryMissesNothingThatIsTakenInMeanwhile(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		drainer := b.open(t)
		c := b.config()
		c.Journal = leaving{b.journal, func() { require.NoError(t, drainer.Drain(t.Context(), here)) }}
		l := b.openWith(t, c)
		b.write(1, joined(1), granted(1))
		rows, err := l.Story(t.Context(), read.Story{Seller: "s-1", Pending: []room.ID{here}})
		require.NoError(t, err)
		require.Equal(t, []string{"integration 10 joined", "integration 10 granted"}, brief(rows))
	})
}

// mute is a journal that cannot be read in one room.
type mute struct{ *journal }

func (j mute) ReadJournal(ctx context.Context, id room.ID, n int) ([]room.Entry, error) {
	if id == "other" {
		return nil, room.ErrStore
	}
	return j.journal.ReadJournal(ctx, id, n)
}

func TestAStoryWithoutAJournalHasTheRest(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		c := b.config()
		c.Journal = mute{b.journal}
		l := b.openWith(t, c)
		b.write(1, joined(1))
		require.NoError(t, l.Drain(t.Context(), here))
		b.write(1, granted(1))
		rows, err := l.Story(t.Context(), read.Story{Seller: "s-1", Pending: []room.ID{"other", here}})
		require.ErrorIs(t, err, room.ErrStore)
		require.NotErrorIs(t, err, sqldb.ErrAway)
		require.Equal(t, []string{"integration 10 joined", "integration 10 granted"}, brief(rows))
	})
}

func TestAStoryWithoutTheDatabaseIsWhatTheJournalsHave(t *testing.T) {
	pg := pgtest.StartOwn(t)
	b := newBench(strings.Replace(pg.URL(), "postgres@", "postgres:canary@", 1))
	l := b.open(t)
	b.write(1, joined(1))
	require.NoError(t, l.Drain(t.Context(), here))
	pg.Stop()
	b.write(1, granted(1))
	for range 2 { // the first call notices the outage, the second fails at once
		rows, err := l.Story(t.Context(), read.Story{Seller: "s-1", Pending: []room.ID{here}})
		require.ErrorIs(t, err, sqldb.ErrAway)
		require.NotContains(t, err.Error(), "canary")
		require.Equal(t, []string{"integration 10 granted"}, brief(rows))
	}
	pg.Start()
	b.now.Move(time.Second)
	rows, err := l.Story(t.Context(), read.Story{Seller: "s-1", Pending: []room.ID{here}})
	require.NoError(t, err)
	require.Equal(t, []string{"integration 10 joined", "integration 10 granted"}, brief(rows))
}
