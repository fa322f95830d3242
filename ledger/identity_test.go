package ledger_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
)

func TestDatabaseHasOneNameByEveryURLAndAnotherDatabaseHasAnother(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		onEmpty(t, func(t *testing.T, b *bench) {
			id, err := b.open(t).Identity(t.Context())
			require.NoError(t, err)
			require.False(t, seen[id], "each database has its own")
			seen[id] = true
			other := b.url + "&application_name=other"
			if strings.HasPrefix(b.url, "sqlite:") {
				other = strings.Replace(b.url, "/waitroom.db", "/./waitroom.db", 1)
			}
			pool, err := sqldb.Connect(other)
			require.NoError(t, err)
			defer func() { require.NoError(t, pool.Close()) }()
			again, err := schema.IdentityOf(t.Context(), pool)
			require.NoError(t, err)
			require.Equal(t, id, again)
		})
	}
}
