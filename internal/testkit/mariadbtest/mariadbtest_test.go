package mariadbtest_test

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/mariadbtest"
)

func TestEachDSNIsADatabaseOfItsOwn(t *testing.T) {
	server := mariadbtest.Start(t)
	for range 2 {
		db, err := sql.Open("mysql", server.DSN())
		require.NoError(t, err)
		_, err = db.Exec(`CREATE TABLE t (n INT)`)
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
}
