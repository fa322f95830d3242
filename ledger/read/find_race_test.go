package read

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
)

// The trim may delete all of a seller's rows between the search and the query for the seller's last event.
func TestSellerThatLeavesDuringTheSearchIsLeftOut(t *testing.T) {
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: "sqlite:" + t.TempDir() + "/waitroom.db",
		Migrations: schema.Migrations()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.SQL().Exec(`INSERT INTO timeline (room, epoch, entry, n, at, kind, seller)
		VALUES ('integration', 1, '1-0', 0, 10, 'joined', 's-2')`)
	require.NoError(t, err)
	f := newFinder("s", nil)
	f.add("s-1") // it was there a moment ago
	var found FoundSellers
	require.NoError(t, db.Read(t.Context(), func(s sqldb.Session) (err error) {
		found, err = (&work{Session: s}).findSellers(f)
		return err
	}))
	require.Equal(t, []FoundSeller{{Seller: "s-2", Room: "integration", At: 10}}, found.List)
}
