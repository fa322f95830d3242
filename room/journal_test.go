package room_test

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestJournalHasEverythingInOrderAndGivesItUpWhenTrimmed(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 1000})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.join()
		b.join()
		a.leave(room.Completed)
		_, err := e.Pause(t.Context(), integration, "", true,
			room.Action{Who: "kim", Action: "pause", Reason: "\"50%\" | \\ down\n"})
		require.NoError(t, err)

		entries, err := e.ReadJournal(t.Context(), integration, 100)
		require.NoError(t, err)
		var kinds []string
		var records []room.Record
		for i, entry := range entries {
			require.Equal(t, first.Epoch, entry.Epoch)
			require.Equal(t, int64(i+1), entry.Version)
			for _, r := range entry.Records {
				kinds, records = append(kinds, r.Type), append(records, r)
			}
		}
		require.Equal(t, []string{"epoch", "joined", "granted", "joined", "ended", "granted", "action"},
			kinds)
		require.Equal(t, first.Fence, records[2].Fence)
		require.Equal(t, first.Lease.ExpiresAt, records[2].ExpiresAt)
		require.Equal(t, room.Completed, records[4].Outcome)
		require.Equal(t, "\"50%\" | \\ down\n", records[6].Reason)

		require.NoError(t, e.TrimJournal(t.Context(), integration, entries))
		found, err := e.Expire(t.Context(), integration)
		require.NoError(t, err)
		require.Zero(t, found.Journal)
	})
}

func TestAJournalThatCannotBeReadOrTrimmedHoldsUpNoOthers(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 1000})
		require.NoError(t, rdb.Set(t.Context(), room.Names{}.Journal("broken"), "no stream", 0).Err())
		for _, id := range []room.ID{"first", "last"} {
			_, err := e.Join(t.Context(), id,
				room.JoinRequest{Session: room.NewSession(), Seller: string(id)})
			require.NoError(t, err)
		}
		ids := []room.ID{"first", "broken", "empty", "last"}
		journals := e.ReadJournals(t.Context(), ids, 100)
		for i, sellers := range [][]string{{"first"}, nil, nil, {"last"}} {
			require.Equal(t, ids[i], journals[i].Room)
			require.Len(t, journals[i].Entries, len(sellers))
			require.Equal(t, ids[i] == "broken", errors.Is(journals[i].Err, room.ErrStore))
			for n, seller := range sellers {
				require.Equal(t, seller, journals[i].Entries[n].Records[1].Seller)
			}
		}
		journals[1].Entries = journals[0].Entries
		failed := e.TrimJournals(t.Context(), journals)
		require.Len(t, failed, 4)
		for i, err := range failed {
			require.Equal(t, ids[i] == "broken", errors.Is(err, room.ErrStore))
		}
		for _, j := range e.ReadJournals(t.Context(), ids, 100) {
			require.Empty(t, j.Entries)
		}
	})
}

func TestRoomWithoutAJournalWritesNone(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		newSeller(t, e, "a").join()
		require.Zero(t, rdb.Exists(t.Context(), room.Names{}.Journal(integration)).Val())
	})
}

// If a Redis user may not publish, Redis stops a script at its PUBLISH and keeps what it has written until
// then.
func TestChangesAreJournalledAlsoWhereAScriptMayNotPublish(t *testing.T) {
	server := redistest.Start(t)
	require.NoError(t, server.Client().Do(t.Context(), "ACL", "SETUSER", "mute", "on", "nopass", "~*",
		"resetchannels", "+@all").Err())
	mute := redis.NewClient(&redis.Options{Addr: server.Addr(), Username: "mute", Password: "any"})
	t.Cleanup(func() { require.NoError(t, mute.Close()) })
	_, err := room.New(mute, room.Config{Journal: 10}).Join(t.Context(), integration,
		room.JoinRequest{Session: room.NewSession(), Seller: "a"})
	require.ErrorIs(t, err, room.ErrStore)

	e := room.New(server.Client(), room.Config{})
	view, _, err := e.Look(t.Context(), integration)
	require.NoError(t, err)
	entries, err := e.ReadJournal(t.Context(), integration, 10)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	last := entries[0].Records[len(entries[0].Records)-1]
	require.Equal(t, view.Lease.Fence, last.Fence, "the lease that is live")
}
