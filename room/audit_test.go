package room_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func recordsOf(t *testing.T, e *room.Engine, id room.ID, kind string) (list []room.Record) {
	t.Helper()
	entries, err := e.ReadJournal(t.Context(), id, 100)
	require.NoError(t, err)
	for _, entry := range entries {
		require.NoError(t, entry.Odd)
		for _, r := range entry.Records {
			if r.Type == kind {
				list = append(list, r)
			}
		}
	}
	return list
}

func TestActionOutsideRoomsIsJournalledAndDrained(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		by := room.Action{Who: "\"kim\"", Action: "sign_in_failed", Reason: "100% \\ wrong"}
		for range 2 {
			require.NoError(t, e.Audit(t.Context(), room.SupportRoom, by))
		}
		list := recordsOf(t, e, room.SupportRoom, "action")
		require.Len(t, list, 2)
		require.Equal(t, by, room.Action{Who: list[0].Who, Action: list[0].Action, Reason: list[0].Reason})
		rooms, err := e.Active(t.Context())
		require.NoError(t, err)
		require.Equal(t, []room.ID{room.SupportRoom}, rooms, "the ledger has to drain it")
		entries, err := e.ReadJournal(t.Context(), room.SupportRoom, 100)
		require.NoError(t, err)
		require.NotZero(t, entries[0].Epoch)
		require.NoError(t, e.TrimJournal(t.Context(), room.SupportRoom, entries))
		checked, err := e.Expire(t.Context(), room.SupportRoom)
		require.NoError(t, err)
		require.True(t, checked.Asleep)
		require.NoError(t, e.Audit(t.Context(), room.SupportRoom, room.Action{}))
		require.Empty(t, recordsOf(t, e, room.SupportRoom, "action"), "an empty action is no record")
	})
	_, err := room.ParseID(string(room.SupportRoom))
	require.ErrorIs(t, err, room.ErrInvalidRoom, "no session waits there")
}

func TestAuditChangesNothingInTheRoom(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		a := newSeller(t, e, "a")
		before := a.join()
		events := listen(t, rdb)
		require.NoError(t, e.Audit(t.Context(), integration,
			room.Action{Who: "kim", Action: "export", Reason: "csv", Ticket: 7}))
		require.Equal(t, before.Version, a.stand().Version)
		require.Empty(t, events())
		require.Equal(t, int64(7), recordsOf(t, e, integration, "action")[0].Ticket)
	})
}

func TestIncidentIsJournalledAndSupportIsNotified(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		events := listen(t, rdb)
		require.NoError(t, e.Incident(t.Context(), integration, "message_refused", "s\"1",
			"the signature is wrong"))
		list := recordsOf(t, e, integration, "incident")
		require.Len(t, list, 1)
		require.Equal(t, [4]string{"message_refused", "s\"1", "", "the signature is wrong"},
			[4]string{list[0].Action, list[0].Who, list[0].MessageID, list[0].Reason})
		require.Equal(t, []room.Note{{Desk: true}}, notes(events()))
		rooms, err := e.Active(t.Context())
		require.NoError(t, err)
		require.Equal(t, []room.ID{integration}, rooms)
	})
}

func TestAlertWritesNothing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		events := listen(t, rdb)
		require.NoError(t, e.Alert(t.Context(), integration))
		require.Equal(t, 1, looks(events()))
		require.Empty(t, rdb.Keys(t.Context(), "*").Val())
	})
}

func TestLostReplyOfAnAuditIsOneRecord(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	e := room.New(proxy.Client(), room.Config{Journal: 100})
	newSeller(t, e, "a").join()
	require.NoError(t, e.Audit(t.Context(), integration, room.Action{Who: "warm", Action: "up"}))
	lost := proxy.DropNextReply(mentions("because"))
	require.NoError(t, e.Audit(t.Context(), integration, byKim))
	<-lost
	require.Equal(t, 2, journalled(t, e, "action"))
	lost = proxy.DropNextReply(mentions("the kind"))
	require.NoError(t, e.Incident(t.Context(), integration, "the kind", "s", "d"))
	<-lost
	require.Equal(t, 1, journalled(t, e, "incident"))
}

func TestActionIsJournalledWithItsSeller(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
		fence := a.join().Fence
		b.join()
		c.join()
		type concerned struct {
			ticket, fence int64
			seller        string
		}
		for _, step := range []struct {
			name string
			do   func() (room.Standing, error)
			want concerned
		}{
			{"extend", func() (room.Standing, error) {
				return e.Extend(t.Context(), integration, "", fence, time.Second, byKim)
			}, concerned{1, fence, "a"}},
			{"move", func() (room.Standing, error) {
				return e.Move(t.Context(), integration, "", 3, 1, byKim)
			}, concerned{3, 0, "c"}},
			{"remove", func() (room.Standing, error) {
				return e.Remove(t.Context(), integration, "", 2, byKim)
			}, concerned{2, 0, "b"}},
			{"restore", func() (room.Standing, error) {
				return e.Restore(t.Context(), integration, "", 2, byKim)
			}, concerned{2, 0, "b"}},
			{"release", func() (room.Standing, error) {
				return e.Release(t.Context(), integration, "", fence, byKim)
			}, concerned{1, fence, "a"}},
			{"pause", func() (room.Standing, error) {
				return e.Pause(t.Context(), integration, "", true, byKim)
			}, concerned{}},
		} {
			_, err := step.do()
			require.NoError(t, err, step.name)
			list := recordsOf(t, e, integration, "action")
			last := list[len(list)-1]
			require.Equal(t, step.want, concerned{last.Ticket, last.Fence, last.Seller}, step.name)
			require.Equal(t, "because", last.Reason)
		}
		before, _, err := e.Look(t.Context(), integration)
		require.NoError(t, err)
		_, err = e.Pause(t.Context(), integration, "", true, byKim)
		require.NoError(t, err)
		require.Len(t, recordsOf(t, e, integration, "action"), 7,
			"a pause of a paused room is written down, too")
		after, _, err := e.Look(t.Context(), integration)
		require.NoError(t, err)
		require.Equal(t, before.Version, after.Version, "and changes nothing")
	})
}

func TestRefusedActionIsNotRemembered(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		a := newSeller(t, e, "a")
		fence := a.join().Fence
		_, err := e.Remove(t.Context(), integration, "remove", 2, byKim)
		require.ErrorIs(t, err, room.ErrStaleTicket)
		_, err = e.Move(t.Context(), integration, "move", 3, 1, byKim)
		require.ErrorIs(t, err, room.ErrStaleTicket)
		_, err = e.Extend(t.Context(), integration, "extend", fence, time.Hour, byKim)
		require.ErrorIs(t, err, room.ErrLeaseTooLong)
		_, err = e.Release(t.Context(), integration, "release", fence-1, byKim)
		require.ErrorIs(t, err, room.ErrStaleFence)
		require.Zero(t, journalled(t, e, "action"))
		for _, name := range []string{"b", "c", "d"} {
			newSeller(t, e, name).join()
		}
		for range 2 { // sent twice: an applied action too is journalled once
			_, err = e.Remove(t.Context(), integration, "remove", 2, byKim)
			require.NoError(t, err)
			_, err = e.Move(t.Context(), integration, "move", 4, 1, byKim)
			require.NoError(t, err)
			_, err = e.Extend(t.Context(), integration, "extend", fence, time.Second, byKim)
			require.NoError(t, err)
		}
		for range 2 {
			_, err = e.Release(t.Context(), integration, "release", fence, byKim)
			require.NoError(t, err)
			_, err = e.Pause(t.Context(), integration, "pause", true, byKim)
			require.NoError(t, err)
		}
		require.Equal(t, 5, journalled(t, e, "action"))
	})
}

func TestHelpedSessionIsNotified(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
		fence := a.join().Fence
		b.join()
		c.join()
		events := listen(t, rdb)
		_, err := e.Extend(t.Context(), integration, "", fence, time.Second, byKim)
		require.NoError(t, err)
		require.Equal(t, []room.Note{{Session: a.session, Support: room.Extended}}, notes(events()))
		_, err = e.Move(t.Context(), integration, "", 3, 1, byKim)
		require.NoError(t, err)
		require.Equal(t, []room.Note{{Session: c.session, Support: room.Moved}}, notes(events()))
		_, err = e.Move(t.Context(), integration, "", 3, 1, byKim)
		require.NoError(t, err)
		require.Empty(t, notes(events()), "it stood there already")
	})
	t.Run("but not of a busy number", func(t *testing.T) {
		d := newDesk(t, room.Config{Lease: 40 * time.Second})
		a, b := d.asker("a"), d.asker("b")
		a.expect()
		a.leave(room.Cancelled)
		d.pass(10 * time.Second)
		events := listen(t, d.rdb)
		b.busy()
		require.Len(t, d.records("extended"), 1)
		require.Empty(t, notes(events()))
	})
}
