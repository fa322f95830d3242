package room_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

var late = room.Announcement{Level: wire.LevelWarning, Texts: []wire.Wording{
	{Lang: "ko", Text: `쿠팡 "문자"가 늦어지고 있어요. 순서는 그대로예요 \n 😀`}, {Lang: "en", Text: "Texts are late."}}}

func TestAnAnnouncementIsInEveryViewOfTheRoomUntilItsTime(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Lease: time.Minute})
		until := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
		st, err := e.Announce(t.Context(), integration, "", &late, until, byKim)
		require.NoError(t, err)
		notice := func(v room.View, lang string, now time.Time) *wire.Notice {
			return v.Support.NoticeIn(lang, now.UnixMilli())
		}
		want := &wire.Notice{Text: late.Texts[0].Text, Level: "warning", Until: until.Format("2006-01-02T15:04:05.000Z")}
		require.Equal(t, want, notice(st.View, "ko", time.Now()))
		s := newSeller(t, e, "a")
		require.Equal(t, want, notice(s.join().View, "ja", time.Now()), "the first is for all other languages")
		snap, err := e.Snapshot(t.Context(), integration)
		require.NoError(t, err)
		require.Equal(t, "Texts are late.", notice(snap.View, "en", until.Add(-time.Millisecond)).Text)
		require.Nil(t, notice(snap.View, "en", until))

		other := room.Announcement{Level: wire.LevelInfo, Texts: []wire.Wording{{Lang: "vi", Text: "chậm"}}}
		st, err = e.Announce(t.Context(), integration, "", &other, until, byKim)
		require.NoError(t, err)
		require.Equal(t, "chậm", notice(st.View, "ko", time.Now()).Text)
		require.Equal(t, snap.Version+1, st.Version)
		st, err = e.Announce(t.Context(), integration, "", nil, time.Time{}, byKim)
		require.NoError(t, err)
		require.Nil(t, st.Support)
	})
}

// A request that is sent again after another announcement changes nothing.
func TestARepeatedAnnouncementDoesNotReplaceALaterOne(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		until := time.Now().Add(time.Hour)
		for _, request := range []string{"first", "second", "first"} {
			a := late
			if request == "second" {
				a.Texts = late.Texts[1:]
			}
			_, err := e.Announce(t.Context(), integration, request, &a, until, byKim)
			require.NoError(t, err)
		}
		require.Equal(t, late.Texts[1:], newSeller(t, e, "a").stand().Support.Announced(1).Texts)
	})
}

func TestAnUnusedRoomIsKeptUntilItsAnnouncementEnds(t *testing.T) {
	d := newDesk(t, room.Config{Retention: time.Minute})
	_, err := d.engine.Announce(t.Context(), integration, "", &late, d.now.Add(2*time.Hour), byKim)
	require.NoError(t, err)
	asleep := func() bool {
		entries, err := d.engine.ReadJournal(t.Context(), integration, 100)
		require.NoError(t, err)
		require.NoError(t, d.engine.TrimJournal(t.Context(), integration, entries))
		checked, err := d.engine.Expire(t.Context(), integration)
		require.NoError(t, err)
		return checked.Asleep
	}
	for range 2 {
		require.False(t, asleep())
		d.pass(59 * time.Minute)
	}
	require.False(t, asleep())
	view, _, err := d.engine.Look(t.Context(), integration, "")
	require.NoError(t, err)
	require.NotNil(t, view.Support)
	d.pass(2 * time.Minute)
	require.True(t, asleep())
}

func TestSupportOpensARoomOutsideItsHoursAndClosesItWithinThem(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		var opens time.Time
		e := room.New(rdb, room.Config{Lease: time.Minute, OpensAt: func(_ room.ID, at time.Time) time.Time {
			if at.Before(opens) {
				return opens
			}
			return time.Time{}
		}})
		now := time.Now().Truncate(time.Millisecond)
		hour := func(n int) time.Time { return now.Add(time.Duration(n) * time.Hour) }
		set := func(open, closed time.Time) *wire.BySupport {
			st, err := e.Open(t.Context(), integration, "", open, closed, byKim)
			require.NoError(t, err)
			return st.Support
		}
		joins := func() error {
			_, err := e.Join(t.Context(), integration, room.JoinRequest{Session: room.NewSession()})
			return err
		}
		at := func(by *wire.BySupport, now time.Time) (at time.Time) {
			if ms := e.OpensAt(integration, by, now.UnixMilli()); ms != 0 {
				at = time.UnixMilli(ms)
			}
			return at
		}
		by := set(time.Time{}, hour(2))
		require.ErrorIs(t, joins(), room.ErrRoomClosed)
		require.Equal(t, hour(2), at(by, now))
		require.Zero(t, at(by, hour(2)))
		opens = hour(3)
		require.Equal(t, hour(3), at(by, now), "the hours have not begun when support's closing ends")
		require.Nil(t, set(time.Time{}, time.Time{}))
		require.ErrorIs(t, joins(), room.ErrRoomClosed, "the hours decide again")
		by = set(hour(1), time.Time{})
		require.NoError(t, joins())
		require.Zero(t, at(by, now))
		require.Equal(t, hour(3), at(by, hour(1)))
		set(time.Now().Add(-time.Second), time.Time{})
		require.ErrorIs(t, joins(), room.ErrRoomClosed, "its time is over")
	})
}
