package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// set changes a field of the room's lease in Redis.
func (b *single) set(member string, value any) {
	redistest.SetState(b.t, b.rdb, oneRoom, member, value)
}

// forget deletes the room's ended leases in Redis and that there were any, so that the first check sees only
// the live one.
func (b *single) forget() {
	b.set("last_lease_over", 0)
	require.NoError(b.t, b.rdb.Del(b.t.Context(), "{"+oneRoom+"}:leases").Err())
}

// lies are false states of a room in Redis, each with the reason by which the second check refuses it.
var lies = []struct {
	name  string
	apply func(b *single, first standing) (sentAt time.Time)
	why   string
}{
	{"two leases overlap", func(b *single, first standing) time.Time {
		b.set("granted", first.GrantedAt.UnixMilli())
		return first.GrantedAt
	}, "overlaps"},
	{"the lease has the fence of the one before", func(b *single, first standing) time.Time {
		b.set("fence", first.Fence)
		return time.Time{}
	}, "fence"},
	{"the lease has an older fence", func(b *single, first standing) time.Time {
		b.set("fence", first.Fence-1)
		return time.Time{}
	}, "fence"},
}

func TestSecondLineAloneKeepsACodeFromTheWrongSeller(t *testing.T) {
	t.Parallel()
	requireSecondLine(t, "sqlite", sqliteFile)
}

// requireSecondLine gives each lie to a server with a ledger of the given kind.
func requireSecondLine(t *testing.T, driver string, ledger func(*testing.T) (url, dsn string)) {
	for _, lie := range lies {
		t.Run(lie.name, func(t *testing.T) {
			t.Parallel()
			url, dsn := ledger(t)
			b := newSingle(t, driver, url, dsn, "--webhook-url", "http://127.0.0.1:1/", "--webhook-secret", smsSecret)
			a, _ := b.join("a")
			second, socket := b.join("b")
			b.join("c")
			first := b.status(a)
			require.Equal(t, "matched", b.send(first.GrantedAt).answer.Result)
			holder := b.status(second)
			require.Equal(t, "locked", holder.Status)

			b.forget()
			m := b.send(lie.apply(b, first))
			require.Equal(t, answer{Result: "unmatched", Reason: "ambiguous"}, m.answer)
			b.requireRefused(m, lie.why)
			b.requireHidden(m, second, socket)
		})
	}
}

// requireRefused requires the refusal to be recorded, once, and a person to be alerted.
func (b *single) requireRefused(m *message, why string) {
	b.t.Helper()
	testproc.Until(b.t, patience, func() error {
		var kind, detail string
		return b.db.QueryRowContext(b.t.Context(), `SELECT kind, detail FROM incidents`).Scan(&kind, &detail)
	})
	var kind, subject, detail string
	require.NoError(b.t,
		b.db.QueryRowContext(b.t.Context(), `SELECT kind, subject, detail FROM incidents`).Scan(&kind, &subject,
			&detail))
	require.Equal(b.t, "match_refused", kind)
	require.Equal(b.t, m.id, subject)
	require.Contains(b.t, detail, why)
	require.Equal(b.t, 1, count(b.t, b.db, `SELECT COUNT(*) FROM incidents`))
	require.Equal(b.t, 1, count(b.t, b.db, `SELECT COUNT(*) FROM verifications`), "the first match alone")
	require.Equal(b.t, 1,
		count(b.t, b.db, `SELECT COUNT(*) FROM outbox_tasks WHERE payload LIKE '{"type":"sms.matched"%'`))
	var payload string
	require.NoError(b.t,
		b.db.QueryRowContext(b.t.Context(),
			`SELECT payload FROM outbox_tasks WHERE payload LIKE '{"type":"incident"%'`).Scan(&payload))
	require.Contains(b.t, payload, `"message_id":"`+m.id+`"`)
	require.Contains(b.t, payload, `"kind":"match_refused"`)
	var result, reason string
	require.NoError(b.t, b.db.QueryRowContext(b.t.Context(), fmt.Sprintf(
		`SELECT result, reason FROM messages WHERE message_id = '%s'`, m.id)).Scan(&result, &reason))
	require.Equal(b.t, "unmatched ambiguous", result+" "+reason)
}

// requireHidden requires that the holder has not seen the message: neither when it came nor on reload.
func (b *single) requireHidden(m *message, session string, s *socket) {
	b.t.Helper()
	testproc.Until(b.t, patience, func() error { // the socket has received every frame up to here
		for _, f := range s.frames() {
			if f.Status == "ended" {
				return nil
			}
		}
		return fmt.Errorf("%d frames", len(s.frames()))
	})
	require.Empty(b.t, s.shown())
	for _, f := range s.frames() {
		require.NotContains(b.t, f.raw, m.code)
	}
	require.NotContains(b.t, b.page(session), m.code)
	inbox, err := b.rdb.ZRange(b.t.Context(), "{"+oneRoom+"}:inbox", 0, -1).Result()
	require.NoError(b.t, err)
	require.NotContains(b.t, strings.Join(inbox, " "), m.code)
}
