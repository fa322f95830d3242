package ledger_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// acted returns the record of support's n-th action.
func acted(n int64) room.Record {
	return room.Record{Type: "action", At: n * 10, Who: "kim", Action: "release",
		Reason: fmt.Sprint("because s-1 ", n), Ticket: 1, Fence: 1000, Seller: "s-1",
		Seconds: n / 4 * 60} // the first three are as from before there were details
}

func (b *bench) audited(t *testing.T) *ledger.Ledger {
	t.Helper()
	l := b.open(t)
	for n := range int64(5) {
		b.write(1, acted(n+1))
		b.journal.write("far", 1, acted(n+1))
	}
	require.NoError(t, l.Drain(t.Context(), here))
	require.NoError(t, l.Drain(t.Context(), "far"))
	return l
}

func verified(t *testing.T, l *ledger.Ledger) ledger.AuditReport {
	t.Helper()
	r, err := l.VerifyAudit(t.Context())
	require.NoError(t, err)
	return r
}

func TestAnUntouchedAuditIsWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		require.Zero(t, verified(t, l).Rows)
		l = b.audited(t)
		before := verified(t, l)
		require.Equal(t, ledger.AuditReport{Rows: 10, Heads: before.Heads}, before)
		b.write(1, acted(6))
		require.NoError(t, l.Drain(t.Context(), here))
		after := verified(t, l)
		require.Equal(t, 11, after.Rows)
		require.NotEqual(t, before.Heads, after.Heads)
	})
}

func TestARowOfTheAuditThatIsEditedOrMissingIsFound(t *testing.T) {
	for change, want := range map[string]string{
		`UPDATE actions SET who = 'lee' WHERE room = 'integration' AND seq = 3`: "integration 3 was edited",
		`UPDATE actions SET reason = 'none' WHERE room = 'integration' AND seq = 1`: "integration 1 was " +
			"edited: its seller or reason",
		`UPDATE actions SET seller = 's-2' WHERE room = 'far' AND seq = 5`: "far 5 was edited: its " +
			"seller or reason",
		`UPDATE actions SET at = at + 1 WHERE room = 'far' AND seq = 2`:              "far 2 was edited",
		`UPDATE actions SET detail = '{"seconds":9}' WHERE room = 'far' AND seq = 2`: "far 2 was edited",
		`UPDATE actions SET detail = '' WHERE room = 'far' AND seq = 4`:              "far 4 was edited",
		`UPDATE actions SET fence = 7, hash = 'x' WHERE room = 'far' AND seq = 2`: "far 2 was edited; far " +
			"3 does not follow the row before it",
		`DELETE FROM actions WHERE room = 'integration' AND seq = 3`: "integration 3 to 3: " +
			"missing",
		`DELETE FROM actions WHERE room = 'integration' AND seq <= 2`: "integration 1 to 2: " +
			"missing",
		`DELETE FROM actions WHERE room = 'integration' AND seq >= 4`: "integration 4 to 5: " +
			"missing",
		`DELETE FROM actions WHERE room = 'integration'`: "integration 1 to 5: " +
			"missing",
		`DELETE FROM audit_chains WHERE room = 'far'`: "far 0 the end of the " +
			"chain is missing",
		`UPDATE audit_chains SET hash = 'x' WHERE room = 'far'`: "far 5 does not end " +
			"the chain: the end was edited",
		`UPDATE actions SET seq = 0 WHERE room = 'integration' AND seq = 2`: "integration 2 to 2: " +
			"missing",
		`UPDATE actions SET seq = 9 - seq WHERE room = 'integration' AND seq IN (4, 5)`: "integration 4 was " +
			"edited; integration 5 was edited",
	} {
		t.Run(want, func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				l := b.audited(t)
				_, err := l.DB().Exec(change)
				require.NoError(t, err)
				var said string
				for i, f := range verified(t, l).Faults {
					if i > 0 {
						said += "; "
					}
					said += fmt.Sprintf("%s %d %s", f.Room, f.Seq, f.What)
				}
				require.Contains(t, said, want)
			})
		})
	}
}

func TestAnErasureLeavesTheAuditWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.audited(t)
		before := verified(t, l)
		_, err := l.EraseSeller(t.Context(), "s-1", "erased-x")
		require.NoError(t, err)
		after := verified(t, l)
		require.Equal(t, ledger.AuditReport{Rows: 10, Erased: 10, Heads: before.Heads}, after)
		require.Zero(t, count(t, l, `actions WHERE seller = 's-1' OR reason LIKE '%s-1%' OR salt <> ''`),
			"nothing is left by which the seller could be tried out")
		_, err = l.DB().Exec(`UPDATE actions SET who = 'lee' WHERE room = 'far' AND seq = 4`)
		require.NoError(t, err)
		require.Len(t, verified(t, l).Faults, 1)
	})
}

func TestTheRetentionLeavesTheAuditWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.retaining(t, time.Hour)
		now := b.now.Now().UnixMilli()
		for n := range int64(6) {
			at := now - (6-n)*30*time.Minute.Milliseconds()
			b.at(here, at, room.Record{Type: "action", At: at, Who: "kim", Action: "pause", Reason: "why"})
		}
		require.NoError(t, l.Drain(t.Context(), here))
		_, err := l.Trim(t.Context())
		require.NoError(t, err)
		left := count(t, l, "actions")
		require.Less(t, left, 6)
		require.Positive(t, left)
		r := verified(t, l)
		require.Equal(t, ledger.AuditReport{Rows: left, Heads: r.Heads}, r)
		_, err = l.DB().Exec(`DELETE FROM actions WHERE seq = (SELECT MIN(seq) FROM actions)`)
		require.NoError(t, err)
		require.Len(t, verified(t, l).Faults, 1, "the retention did not take that one")
	})
}

// The hash of a row from before actions had details is fixed here: the row has to verify in every later
// version.
func TestARowFromBeforeThereWereDetailsVerifies(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		row := `["integration",1,0,10,1,"1-0","kim","pause",0,0,"","` + oldTexts + `",""]`
		_, err := l.DB().Exec(`INSERT INTO actions (room, epoch, entry, n, at, who, action, reason, ticket, fence,
			seq, salt, texts, hash)
			VALUES ('integration', 1, '1-0', 0, 10, 'kim', 'pause', 'why', 0, 0, 1, 'SALT', '` + oldTexts + `', '` +
			sha(row) + `')`)
		require.NoError(t, err)
		_, err = l.DB().Exec(`INSERT INTO audit_chains (room, first, seq, hash) VALUES ('integration', 1, 1, '` +
			sha(row) + `')`)
		require.NoError(t, err)
		r := verified(t, l)
		require.Equal(t, ledger.AuditReport{Rows: 1, Heads: r.Heads}, r)
		extend := act(20, "kim", "extend")
		extend.Seconds = 60
		b.write(1, extend)
		require.NoError(t, l.Drain(t.Context(), here))
		r = verified(t, l)
		require.Equal(t, ledger.AuditReport{Rows: 2, Heads: r.Heads}, r)
	})
}

// oldTexts is the digest of the salt, the seller and the reason of that row.
var oldTexts = sha(`["SALT","","why"]`)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
