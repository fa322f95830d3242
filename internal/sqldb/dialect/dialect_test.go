package dialect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

func TestParametersKeepTheirNumbers(t *testing.T) {
	const query = `UPDATE t SET a = $2 WHERE b = $1 OR c = $2`
	require.Equal(t, `UPDATE t SET a = ?2 WHERE b = ?1 OR c = ?2`, dialect.SQLite.Bind(query))
	require.Equal(t, query, dialect.Postgres.Bind(query))
}
