package hub_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

// The hours of a room change nothing in Redis: each replica tells its own sockets.
func TestEverySocketIsToldWhenItsRoomOpensAndCloses(t *testing.T) {
	var opens atomic.Int64
	r := start(t, redistest.Start(t).Client(), room.Config{Lease: time.Minute, OpensAt: func(id room.ID, now time.Time) time.Time {
		if at := opens.Load(); at != 0 && id == lobby {
			return time.UnixMilli(at)
		}
		return time.Time{}
	}}, hub.Config{})
	id := room.NewSession()
	spectator, waiter := r.dial(""), r.dial(id)
	join(t, r.Engine, room.NewSession())
	join(t, r.Engine, id)
	require.Nil(t, waiter.untilStatus(room.Waiting).OpensAt)

	at := time.Now().Add(time.Hour).UnixMilli()
	for _, want := range []int64{at, at + 1, 0, at} {
		opens.Store(want)
		for _, s := range []*socket{spectator, waiter} {
			s.untilTrue("the hours", func() bool {
				last := s.states[len(s.states)-1].OpensAt
				return want == 0 && last == nil || last != nil && *last == want
			})
		}
	}
	newcomer := r.dial("").untilStatus(room.Idle)
	require.Equal(t, at, *newcomer.OpensAt)
}

// Support's announcement is in Redis: every replica sends it to all sockets, and ends it by its own clock.
func TestEverySocketOfTheRoomIsSentAnAnnouncementInItsLanguageUntilItEnds(t *testing.T) {
	rdb := redistest.Start(t).Client()
	a, b := start(t, rdb, room.Config{Lease: time.Minute}, hub.Config{}), start(t, rdb, room.Config{Lease: time.Minute}, hub.Config{})
	holder, waiter := room.NewSession(), room.NewSession()
	join(t, a.Engine, holder)
	join(t, a.Engine, waiter)
	readers := map[*socket]string{a.dialIn("ko", lobby, holder): "늦어요", b.dialIn("en", lobby, waiter): "Late.", b.dialIn("ja", lobby, ""): "늦어요"}
	says := func(s *socket, text string) {
		s.untilTrue("the announcement", func() bool {
			if len(s.states) == 0 {
				return false
			}
			notice := s.states[len(s.states)-1].Notice
			return text == "" && notice == nil || notice != nil && notice.Text == text && notice.Level == "info"
		})
	}
	for s := range readers {
		says(s, "")
	}
	announced := &room.Announcement{Level: wire.LevelInfo, Texts: []wire.Wording{{Lang: "ko", Text: "늦어요"}, {Lang: "en", Text: "Late."}}}
	announce := func(a2 *room.Announcement, until time.Time) {
		_, err := a.Engine.Announce(t.Context(), lobby, "", a2, until, room.Action{})
		require.NoError(t, err)
	}
	announce(announced, time.Now().Add(time.Hour))
	for s, text := range readers {
		says(s, text)
	}
	says(b.dialIn("en", lobby, ""), "Late.")
	announce(nil, time.Time{})
	for s := range readers {
		says(s, "")
	}
	announce(announced, time.Now().Add(3*time.Second))
	for s, text := range readers {
		says(s, text)
	}
	for s := range readers {
		says(s, "") // time alone ends it
	}
}
