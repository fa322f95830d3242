package dialect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

func TestParametersKeepTheirNumbers(t *testing.T) {
	const query = `UPDATE t SET a = $2 WHERE b = $1 OR c = $2 OR d = $10`
	args := []any{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for d, want := range map[dialect.Dialect]string{
		dialect.SQLite:   `UPDATE t SET a = ?2 WHERE b = ?1 OR c = ?2 OR d = ?10`,
		dialect.Postgres: query,
	} {
		got, given := d.Bind(query, args...)
		require.Equal(t, want, got)
		require.Equal(t, args, given)
	}
}

func TestMySQLIsGivenAnArgumentForEachPlace(t *testing.T) {
	query, args := dialect.MySQL.Bind(`UPDATE t SET a = $2 WHERE b = $1 OR c = $2`, "one", "two")
	require.Equal(t, `UPDATE t SET a = ? WHERE b = ? OR c = ?`, query)
	require.Equal(t, []any{"two", "one", "two"}, args)
}
