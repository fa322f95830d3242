package trim

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/plantest"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/outbox"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestNoStepOfTheTrimReadsAWholeTable(t *testing.T) {
	plantest.OnEach(t, schema.Migrations(), trimPlans)
}

func trimPlans(t *testing.T, db *plantest.Database) {
	w := &work{Session: db.Session(t.Context()), id: plantest.Room}
	_, err := w.ages(20)
	require.NoError(t, err)
	for _, line := range db.Plans { // an index has them in order, where they are many, and so many are read
		require.NotRegexp(t, `Seq Scan|^SCAN|Sort .*rows=\d{3}|TEMP B-TREE`, line)
	}
	db.Plans = nil
	gone, err := w.trim(20*50*10_000, 4*20) // twenty rows of each
	require.NoError(t, err)
	for _, table := range []string{"leases", "places", "verifications", "messages", "attributions", "actions",
		"incidents"} {
		require.NotZero(t, gone[table], table)
	}
	_, err = outbox.Trim(t.Context(), db, db.Dialect, 1, 10, outbox.Finished)
	require.NoError(t, err)
	var next string
	require.NoError(t, w.Row(nextRoomQuery, plantest.Room).Scan(&next))
	if testing.Verbose() {
		t.Logf("%s", strings.Join(db.Plans, "\n"))
	}
	require.Empty(t, slices.DeleteFunc(db.Scans(), func(line string) bool {
		return strings.Contains(line, "parked") || strings.HasPrefix(line, "SCAN q") ||
			strings.Contains(line, "outbox_tasks") // few; the rows of a subquery; none
	}), strings.Join(db.Plans, "\n"))
}
