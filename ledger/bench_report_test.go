package ledger_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/read"
)

// BenchmarkReportOfAYear times the report over a year in which one room had 400,000 places, each with a lease
// and a code.
func BenchmarkReportOfAYear(b *testing.B) {
	for name, url := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(b.TempDir(), "waitroom.db") },
		"postgres": func() string { return pgtest.Start(b).URL() },
	} {
		b.Run(name, func(b *testing.B) {
			on := newBench(url())
			c, err := on.config(), error(nil)
			c.DB, err = on.database(b.Context())
			require.NoError(b, err)
			l := ledger.New(c)
			b.Cleanup(func() {
				l.Close()
				require.NoError(b, c.DB.Close())
			})
			const numbers = `WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 400000) `
			for _, into := range []string{
				`places (room, epoch, ticket, seller, joined_at, ended_at, outcome, fence)
					SELECT 'integration', 1, i, 's-' || (i % 40000), i * 78840, i * 78840 + i * 7919 % 900000, CASE i % 9
					WHEN 0 THEN 'cancelled' WHEN 1 THEN 'expired' ELSE 'completed' END, i * 1000 FROM n`,
				`leases (room, fence, epoch, ticket, seller, joined_at, granted_at, expires_at, ended_at, outcome)
					SELECT 'integration', i * 1000, 1, i, 's-' || (i % 40000), i * 78840,
					i * 78840 + i * 7919 % 600000, 0,
					i * 78840 + i * 7919 % 900000 + 1, 'completed' FROM n`,
				`messages (room, message_id, state, sender, body, sent_at, received_at, result, code)
					SELECT 'integration', 'm-' || (i * 7919 % 400000), 'judged', '*******5678', 'code ******', i * 78840,
					i * 78840 + i * 7919 % 9000, 'matched', 1 FROM n`,
			} {
				_, err := l.DB().Exec(`INSERT INTO ` + strings.Replace(into, `SELECT`, numbers+`SELECT`, 1))
				require.NoError(b, err, into)
			}
			if name == "postgres" {
				_, err := l.DB().Exec(`VACUUM ANALYZE`)
				require.NoError(b, err)
			}
			spans := make([]read.ReportSpan, 365)
			for i := range spans {
				begins := int64(i) * (24 * time.Hour).Milliseconds()
				spans[i] = read.ReportSpan{Begins: begins, Ends: begins + (24 * time.Hour).Milliseconds(), Day: i, Hour: -1}
			}
			for b.Loop() {
				days, _, err := l.Report(b.Context(), here, spans)
				require.NoError(b, err)
				require.NotZero(b, days[100].Codes)
			}
		})
	}
}
