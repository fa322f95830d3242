package ledger_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/ledger/schema"
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

func verified(t *testing.T, l *ledger.Ledger) read.AuditReport { return verifiedSince(t, l, "") }

func verifiedSince(t *testing.T, l *ledger.Ledger, since string) read.AuditReport {
	t.Helper()
	r, err := l.VerifyAudit(t.Context(), since)
	require.NoError(t, err)
	return r
}

func TestAnUntouchedAuditIsWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		require.Zero(t, verified(t, l).Rows)
		l = b.audited(t)
		before := verified(t, l)
		require.Equal(t, read.AuditReport{Rows: 10, Heads: before.Heads}, before)
		b.write(1, acted(6))
		require.NoError(t, l.Drain(t.Context(), here))
		after := verified(t, l)
		require.Equal(t, 11, after.Rows)
		require.NotEqual(t, before.Heads, after.Heads)
	})
}

const (
	addedRow = `INSERT INTO actions (room, epoch, entry, n, at, who, action, reason, ticket, fence, seq, salt,
		texts, prev, hash) SELECT room, epoch, entry || '9', n, at, 'lee', action, reason, ticket, fence, %s, salt,
		texts, prev, hash FROM actions WHERE room = 'far' AND seq = 5`
	emptied = "was edited: its seller and reason can not be verified, and no erasure took them"
)

// Each change is one by a person who can write to the database.
func TestTwentyKindsOfTamperingWithTheAuditAreFound(t *testing.T) {
	for _, c := range []struct{ change, want string }{
		{`UPDATE actions SET who = 'lee' WHERE room = 'integration' AND seq = 3`, "integration 3 was edited"},
		{`UPDATE actions SET reason = 'none' WHERE room = 'integration' AND seq = 1`,
			"integration 1 was edited: its seller or reason"},
		{`UPDATE actions SET seller = 's-2' WHERE room = 'far' AND seq = 5`,
			"far 5 was edited: its seller or reason"},
		{`UPDATE actions SET at = at + 1 WHERE room = 'far' AND seq = 2`, "far 2 was edited"},
		{`UPDATE actions SET detail = '{"seconds":9}' WHERE room = 'far' AND seq = 2`, "far 2 was edited"},
		{`UPDATE actions SET detail = '' WHERE room = 'far' AND seq = 4`, "far 4 was edited"},
		{`UPDATE actions SET fence = 7, hash = 'x' WHERE room = 'far' AND seq = 2`,
			"far 2 was edited; far 3 does not follow the row before it"},
		{`DELETE FROM actions WHERE room = 'integration' AND seq = 3`, "integration 3 to 3: missing"},
		{`DELETE FROM actions WHERE room = 'integration' AND seq <= 2`, "integration 1 to 2: missing"},
		{`DELETE FROM actions WHERE room = 'integration' AND seq >= 4`, "integration 4 to 5: missing"},
		{`DELETE FROM actions WHERE room = 'integration'`, "integration 1 to 5: missing"},
		{`DELETE FROM audit_chains WHERE room = 'far'`, "far 0 the end of the chain is missing"},
		{`UPDATE audit_chains SET hash = 'x' WHERE room = 'far'`, "far 5 does not end the chain"},
		{`UPDATE actions SET seq = 0 WHERE room = 'integration' AND seq = 2`,
			"integration 0 is outside the chain: it was added; integration 2 to 2: missing"},
		{`UPDATE actions SET seq = 9 - seq WHERE room = 'integration' AND seq IN (4, 5)`,
			"integration 4 was edited; integration 5 was edited"},
		{`UPDATE actions SET salt = '', reason = 'none' WHERE room = 'far' AND seq = 2`, "far 2 " + emptied},
		{`UPDATE actions SET salt = '', seller = '' WHERE room = 'far' AND seq = 2`, "far 2 " + emptied},
		{`UPDATE actions SET salt = '', seller = 'erased-mine' WHERE room = 'far' AND seq = 2`, "far 2 " + emptied},
		{`DELETE FROM actions WHERE room = 'far' AND seq <= 4; UPDATE audit_chains SET first = 5 WHERE room = 'far'`,
			"far 5 begins the chain, though rows before it are missing that the retention keeps"},
		{`DELETE FROM actions WHERE room = 'far'; UPDATE audit_chains SET first = 6 WHERE room = 'far'`,
			"far 5 is missing: the retention keeps a chain's last row"},
		{fmt.Sprintf(addedRow, "0"), "far 0 is outside the chain: it was added"},
		{fmt.Sprintf(addedRow, "-1"), "far -1 is outside the chain: it was added"},
		{fmt.Sprintf(addedRow, "6"), "far 6 is outside the chain: it was added"},
		{fmt.Sprintf(addedRow, "3"), "far 3 is there twice"},
		{`INSERT INTO actions (room, epoch, entry, n, at, who, action, reason, ticket, fence)
			VALUES ('new', 1, '1-0', 0, 1, 'kim', 'pause', '', 0, 0)`, "new 0 the end of the chain is missing"},
	} {
		t.Run(c.want, func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				l := b.audited(t)
				tamper(t, l, c.change)
				require.Contains(t, faults(verified(t, l)), c.want)
			})
		})
	}
}

func tamper(t *testing.T, l *ledger.Ledger, changes string) {
	t.Helper()
	for change := range strings.SplitSeq(changes, "; ") {
		_, err := l.DB().Exec(change)
		require.NoError(t, err)
	}
}

func faults(r read.AuditReport) string {
	var list []string
	for _, f := range r.Faults {
		list = append(list, fmt.Sprintf("%s %d %s", f.Room, f.Seq, f.What))
	}
	return strings.Join(list, "; ")
}

// A person who can write to the database and computes all hashes anew leaves a chain that is whole.
func TestAnEarlierDigestFindsAChainThatWasComputedAnew(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.audited(t)
		noted := verified(t, l).Heads
		require.NotContains(t, noted, " ")
		b.write(1, acted(6))
		require.NoError(t, l.Drain(t.Context(), here))
		r := verifiedSince(t, l, noted)
		require.Empty(t, r.Faults, "the chain goes on")
		require.Zero(t, r.Unproven)

		anew := func(rows int64, reason string) {
			tamper(t, l, `DELETE FROM actions WHERE room = 'far'; DELETE FROM audit_chains WHERE room = 'far'`)
			for n := range rows {
				rec := acted(n + 1)
				rec.Reason = reason
				b.journal.write("far", 1, rec)
			}
			if rows > 0 {
				require.NoError(t, l.Drain(t.Context(), "far"))
			}
			require.Empty(t, verified(t, l).Faults, "whole without the digest")
		}
		anew(5, "as one would like it")
		require.Equal(t, "far 5 is not the row of the earlier digest", faults(verifiedSince(t, l, noted)))
		anew(8, "with more")
		require.Equal(t, "far 5 is not the row of the earlier digest", faults(verifiedSince(t, l, noted)))
		anew(3, "with less")
		require.Equal(t, "far 5 of the earlier digest is missing: the chain was shortened",
			faults(verifiedSince(t, l, noted)))
		anew(0, "")
		require.Equal(t, "far 5 of the earlier digest is missing", faults(verifiedSince(t, l, noted)))
		for _, text := range []string{"x", "!", noted[:len(noted)/2], noted + noted[1:]} {
			_, err := l.VerifyAudit(t.Context(), text)
			require.ErrorIs(t, err, read.ErrDigest, text)
		}
	})
}

func TestAnErasureLeavesTheAuditWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.audited(t)
		b.journal.write(room.SupportRoom, 1, room.Record{Type: "action", At: 60, Who: "waitroom erase",
			Action: schema.Erasure, Seller: "erased-x"})
		require.NoError(t, l.Drain(t.Context(), room.SupportRoom))
		before := verified(t, l)
		_, err := l.EraseSeller(t.Context(), "s-1", "erased-x")
		require.NoError(t, err)
		after := verifiedSince(t, l, before.Heads)
		require.Equal(t, read.AuditReport{Rows: 11, Erased: 10, Heads: before.Heads}, after)
		require.Zero(t, count(t, l, `actions WHERE seller = 's-1' OR reason LIKE '%s-1%' OR (salt <> '' AND seller <> 'erased-x')`),
			"nothing is left by which the seller could be tried out")
		tamper(t, l, `UPDATE actions SET who = 'lee' WHERE room = 'far' AND seq = 4`)
		require.Len(t, verified(t, l).Faults, 1)
		tamper(t, l, `UPDATE actions SET seller = '', reason = 'none' WHERE room = 'far' AND seq = 3`)
		require.Contains(t, faults(verified(t, l)), "far 3 "+emptied)
	})
}

func TestTheRetentionLeavesTheAuditWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.retaining(t, time.Hour)
		now := b.now.Now().UnixMilli()
		var noted string
		for n := range int64(6) {
			at := now - (6-n)*30*time.Minute.Milliseconds() + 1000
			b.at(here, at, room.Record{Type: "action", At: at, Who: "kim", Action: "pause", Reason: "why s-1",
				Seller: "s-1"})
			require.NoError(t, l.Drain(t.Context(), here))
			if n == 1 {
				noted = verified(t, l).Heads
			}
		}
		_, err := l.Trim(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"4", "5", "6"}, column(t, l.DB(), `SELECT CAST(seq AS TEXT) FROM actions ORDER BY seq`),
			"the last due one stays")
		require.Equal(t, 1, count(t, l, `actions WHERE seq = 4 AND seller = '' AND reason = '' AND salt = ''`),
			"without its texts")
		r := verifiedSince(t, l, noted)
		require.Equal(t, read.AuditReport{Rows: 3, Erased: 1, Unproven: 1, Heads: r.Heads}, r)
		tamper(t, l, `DELETE FROM actions WHERE seq = 4; UPDATE audit_chains SET first = 5`)
		require.Equal(t, "integration 5 begins the chain, though rows before it are missing that the retention keeps",
			faults(verified(t, l)))
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
		require.Equal(t, read.AuditReport{Rows: 1, Heads: r.Heads}, r)
		extend := act(20, "kim", "extend")
		extend.Seconds = 60
		b.write(1, extend)
		require.NoError(t, l.Drain(t.Context(), here))
		r = verified(t, l)
		require.Equal(t, read.AuditReport{Rows: 2, Heads: r.Heads}, r)
	})
}

// oldTexts is the digest of the salt, the seller and the reason of that row.
var oldTexts = sha(`["SALT","","why"]`)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
