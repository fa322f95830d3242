package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// written has the columns that a drain writes, for each table.
var written = map[string]string{
	"timeline": "epoch, entry, n, at, kind, ticket, fence, seller, detail",
	"places":   "epoch, ticket, seller, joined_at, ended_at, outcome, fence",
	"leases":   "fence, epoch, ticket, seller, granted_at, expires_at, ended_at, outcome",
	"messages": "message_id, state, sender, body, sent_at, received_at, result, reason, verdict, " +
		"completes, epoch, ticket, fence, seller, granted_at, ended_at, matched_at, claimed, duplicate, code, " +
		"fingerprint, now_by, now_result, now_reason, now_epoch, now_ticket, now_fence, now_seller",
	"verifications": "ROW_NUMBER() OVER (ORDER BY id), fence, epoch, ticket, message_id, granted_at, " +
		"ended_at, completes, voided_at",
	"attributions": "message_id, kind, fence, epoch, ticket, seller, verdict, who, reason, at",
	"actions":      "epoch, entry, n, at, who, action, reason, ticket, fence, message_id, seller",
	"incidents":    "kind, subject, epoch, ticket, fence, detail, at",
	"parked":       "epoch, entry, body, error",
	"outbox_tasks": "task_key, ROW_NUMBER() OVER (PARTITION BY task_key ORDER BY id), kind, phase, payload",
}

// tables returns the rows that a drain has written of a room, without the room's id.
func tables(t *testing.T, l *ledger.Ledger, id room.ID) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for table, columns := range written {
		var parts []string
		for _, c := range strings.Split(columns, ",") {
			parts = append(parts, `COALESCE(CAST(`+strings.TrimSpace(c)+` AS TEXT), '-')`)
		}
		of := `room = '` + string(id) + `'`
		if table == "outbox_tasks" {
			of = `task_key LIKE '` + string(id) + `/%'`
		}
		for _, row := range column(t, l.DB(),
			`SELECT `+strings.Join(parts, ` || '|' || `)+` FROM `+table+` WHERE `+of+` ORDER BY 1`) {
			all[table] = append(all[table], strings.ReplaceAll(row, string(id), "room"))
		}
	}
	return all
}

// chance makes random journals in which few tickets, fences and messages meet in every order, also in orders
// that no room writes.
type chance struct {
	*rand.Rand
	at int64
	n  int64 // entries so far

	poison bool // some records can not be written to PostgreSQL
}

func (c *chance) record() room.Record {
	c.at += c.Int64N(4)
	ticket := 1 + c.n/4 + c.Int64N(4)
	r := room.Record{At: c.at, Ticket: ticket, Seller: fmt.Sprintf("s-%d", ticket),
		Fence:     ticket*1000 + c.Int64N(9)/8,
		GrantedAt: ticket * 10, ExpiresAt: ticket*10 + 120, EndedAt: ticket*10 + 1 + c.Int64N(10)}
	switch c.IntN(40) {
	case 0:
		r.Fence, r.Ticket = 0, c.Int64N(2)*ticket
	case 1:
		r.Seller = fmt.Sprint("other-", c.IntN(3))
	case 2:
		r.GrantedAt, r.EndedAt = 0, 0
	}
	r.Type = c.one("joined", "joined", "joined", "joined", "granted", "granted", "granted", "granted", "ended",
		"ended", "ended", "ended", "extended",
		"extended", "away", "later", "message", "message", "message", "message", "message", "claimed", "assigned",
		"rejected", "incident", "action", "action",
		c.one("epoch", "told", "joined", "joined"))
	switch r.Type {
	case "ended", "told":
		r.Outcome = room.Outcome(c.one("completed", "cancelled", "expired", "lost", ""))
		r.Fence *= c.Int64N(3) % 2
		r.Of, r.JoinedAt = c.Int64N(3), c.Int64N(2)*ticket*10
	case "epoch":
		r.Kept = []room.Kept{{Ticket: ticket, Seller: r.Seller}}
	case "message", "claimed", "assigned", "rejected", "incident", "action":
		r.MessageNote = room.MessageNote{MessageID: fmt.Sprint("m-", ticket, c.IntN(2)), Text: "code 482913",
			SentAt:   c.at - c.Int64N(5),
			Received: c.at, Fingerprint: c.one("k:1", "k:1", "k:1", "k:2")}
		r.Who, r.Action, r.Reason = "kim", c.one("end", "move", ""), c.one("", "why")
		if c.poison && c.IntN(5) == 0 {
			r.Reason = "no\x00text"
		}
		r.Result = room.Result(c.one(string(room.Matched), string(room.Matched), string(room.Unmatched),
			string(room.Late), ""))
		r.Judge = r.Result == room.Matched && c.IntN(6) > 0
		r.Completes, r.Duplicate, r.Code = c.IntN(2) > 0, c.IntN(9) == 0, c.IntN(2) > 0
	}
	return r
}

func (c *chance) one(of ...string) string { return of[c.IntN(len(of))] }

func (c *chance) journal(entries int) (list []room.Entry) {
	epoch := int64(1)
	for n := range entries {
		c.n = int64(n)
		e := room.Entry{ID: fmt.Sprintf("1763689000000-%d", n), Epoch: epoch}
		for range 1 + c.IntN(6)/5*2 {
			r := c.record()
			if r.Type == "epoch" {
				epoch++
				e.Epoch = epoch
			}
			e.Records = append(e.Records, r)
		}
		if c.IntN(60) == 0 {
			e = room.Entry{ID: e.ID, Odd: errLost, Raw: "nonsense"}
		}
		list = append(list, e)
	}
	return list
}

func TestManyRecordsAtATimeWriteWhatOneAtATimeDoes(t *testing.T) { manyAsOne(t, 0, 1) }

// manyAsOne drains the journals of some seeds, entry by entry and all at once, and requires the same rows.
// Odd seeds have records that become dead letters.
func manyAsOne(t *testing.T, seeds ...uint64) {
	t.Helper()
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for _, seed := range seeds {
			c := &chance{Rand: rand.New(rand.NewPCG(seed, 11)), poison: seed%2 == 1}
			entries := c.journal(120)
			one, many := room.ID(fmt.Sprint("one-", seed)), room.ID(fmt.Sprint("many-", seed))
			for _, e := range entries {
				b.journal.add(one, e)
				require.NoError(t, l.Drain(t.Context(), one))
			}
			verdicts := b.journal.verdicts()
			b.journal.settled = nil
			for _, e := range entries {
				b.journal.add(many, e)
				if !c.poison && c.IntN(20) == 0 { // a dead letter is tried again alone, and may be written by then
					b.journal.failTrim = func() bool { return c.IntN(3) > 0 }
					_ = l.Drain(t.Context(), many)
				}
			}
			b.journal.failTrim = nil
			require.NoError(t, l.Drain(t.Context(), many))
			if c.poison {
				require.Equal(t, verdicts, b.journal.verdicts(), "seed %d: verdicts", seed)
			}
			b.journal.settled = nil
			want, got := tables(t, l, one), tables(t, l, many)
			for table := range written {
				require.Equal(t, want[table], got[table], "seed %d: %s", seed, table)
				require.NotEmpty(t, want[table], "seed %d: %s", seed, table)
			}
		}
	})
}

// Many verifications are written by one statement, so the database has to see those before each.
func TestTheTablesRulesSeeTheVerificationsOfTheSameStatement(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for name, second := range map[string]string{
			"the same message":    `2, 'm-1', 20, 30, 1`,
			"a completed lease's": `1, 'm-2', 10, 20, 0`,
			"an overlapping one":  `2, 'm-2', 15, 30, 1`,
		} {
			_, err := l.DB().Exec(`INSERT INTO verifications (room, epoch, ticket, fence, message_id, granted_at,
				ended_at, completes)
				VALUES ('integration', 1, 1, 1, 'm-1', 10, 20, 1), ('integration', 1, 1, ` + second + `)`)
			require.Error(t, err, name)
		}
		require.Zero(t, count(t, l, "verifications"))
	})
}
