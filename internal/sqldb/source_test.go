package sqldb_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
)

func TestAWrongDatabaseURLStopsTheStartWithoutShowingIt(t *testing.T) {
	for _, url := range []string{"mysql://u:canary@h/d", "sqlite:", "sqlite::memory:", "postgres://u:canary@h:port/d", "canary"} {
		_, err := sqldb.Open(t.Context(), sqldb.Config{URL: url})
		require.ErrorContains(t, err, "DATABASE_URL", url)
		require.NotContains(t, err.Error(), "canary")
	}
}
