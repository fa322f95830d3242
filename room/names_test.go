package room_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestNamesWithoutAPrefixInDatabaseZeroAreTheDocumentedOnes(t *testing.T) {
	var n room.Names
	require.Equal(t, "{integration}:lock", n.Lock("integration"))
	require.Equal(t, "{integration}:journal", n.Journal("integration"))
	require.Equal(t, "{integration}:events", n.Events("integration"))
	require.Equal(t, "__keyspace@0__:{integration}:lock", n.LockNotices("integration"))
	require.Equal(t, "{waitroom}:due", n.Key("{waitroom}:due"))
	require.Equal(t, "{waitroom}:replicas", n.Channel("{waitroom}:replicas"))
}

// clientOf returns a client of a database on a server that does not exist.
func clientOf(t *testing.T, database int) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", DB: database})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestNoTwoDeploymentsHaveANameInCommon(t *testing.T) {
	seen := make(map[string]bool)
	for _, database := range []int{0, 1, 11} {
		for _, prefix := range []string{"", "a", "a:", "a:1", "1", "db/1."} {
			n := room.NamesOf(clientOf(t, database), prefix)
			for _, channel := range []string{n.Events("r"), n.EveryEvents(), n.LockNotices("r"),
				n.Channel("{waitroom}:replicas")} {
				require.False(t, seen[channel], channel)
				seen[channel] = true
			}
			require.Equal(t, room.ID("r"), n.Room(n.Lock("r")))
			require.Empty(t, n.Room("b"+n.Lock("r")), "another deployment's")
		}
	}
}

func TestPrefixThatWouldMatchMoreThanItselfIsRefused(t *testing.T) {
	for _, good := range []string{"", "staging:", "team-a/live.1_", strings.Repeat("x", 64)} {
		require.True(t, room.ValidPrefix(good), good)
	}
	for _, bad := range []string{"{a}", "a{", "a}", "a*", "a?", "[a]", `a\`, "a b", "a@1", "가", "a\n",
		strings.Repeat("x", 65)} {
		require.False(t, room.ValidPrefix(bad), bad)
		require.Panics(t, func() { room.New(clientOf(t, 0), room.Config{KeyPrefix: bad}) }, bad)
	}
}

// If a prefix moved keys of one room into two slots, scripts would fail on a cluster.
func TestRoomsOfTwoPrefixesAreApartOnEveryStore(t *testing.T) {
	t.Run("cluster", func(t *testing.T) { requireApart(t, redistest.StartCluster(t).Client()) })
	onEveryStore(t, requireApart)
}

func requireApart(t *testing.T, rdb redis.UniversalClient) {
	for _, prefix := range []string{"one:", "two:", ""} {
		e := room.New(rdb, room.Config{KeyPrefix: prefix, Journal: 100})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		require.Equal(t, room.Locked, a.join().Status)
		require.Equal(t, room.Waiting, b.join().Status)
		rooms, err := e.Rooms(t.Context())
		require.NoError(t, err)
		require.Equal(t, []room.ID{integration}, rooms)
		journals, err := e.Journals(t.Context())
		require.NoError(t, err)
		require.Equal(t, []room.ID{integration}, journals)
		requireDrained(t, e)
		replies, err := e.EraseReplies(t.Context(), "a", "erased-x")
		require.NoError(t, err)
		require.Equal(t, 1, replies)
		require.NoError(t, rdb.Get(t.Context(), e.Names().Lock(integration)).Err())
	}
	require.NoError(t, room.EachKey(t.Context(), rdb, "*", func(key string) error {
		require.Regexp(t, `^(one:|two:)?\{`, key)
		return nil
	}))
}

// requireDrained requires that the integration room's journal has entries that can be read and trimmed.
func requireDrained(t *testing.T, e *room.Engine) {
	entries, err := e.ReadJournal(t.Context(), integration, 100)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	journals := e.ReadJournals(t.Context(), []room.ID{integration}, 100)
	require.Len(t, journals[0].Entries, len(entries))
	require.NoError(t, e.TrimJournal(t.Context(), integration, entries))
	left, err := e.ReadJournal(t.Context(), integration, 100)
	require.NoError(t, err)
	require.Empty(t, left)
}
