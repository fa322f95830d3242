package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// notice waits for the n-th notice and returns the state that was sent before it.
func (s *socket) notice(n int, what string) (before string) {
	s.t.Helper()
	s.untilTrue("notice "+what, func() bool {
		count := 0
		for i, text := range s.raw {
			if !strings.Contains(text, `"type":"notice"`) {
				continue
			}
			if count++; count == n && strings.Contains(text, `"notice":"`+what+`","server_time":`) {
				before = s.raw[i-1]
			}
		}
		return before != ""
	})
	return before
}

func TestSellerSeesWhatSupportDidForItAfterTheStateOfThatChange(t *testing.T) {
	rdb := redistest.Start(t).Client()
	one, two := start(t, rdb, room.Config{}, hub.Config{Coalesce: time.Hour}), start(t, rdb, room.Config{},
		hub.Config{Coalesce: time.Hour})
	ids := sessions(30)
	for _, id := range ids {
		join(t, one.Engine, id)
	}
	holder, tab, last, other := one.dial(ids[0]), two.dial(ids[0]), two.dial(ids[29]), one.dial(ids[28])
	lease := holder.untilStatus(room.Locked)
	tab.untilStatus(room.Locked)
	last.untilPosition(29)
	other.untilPosition(28)

	st, err := two.Engine.Extend(t.Context(), lobby, "", *lease.Fence, 30*time.Second, room.Action{})
	require.NoError(t, err)
	for _, s := range []*socket{holder, tab} {
		s.notice(1, "extended")
		require.Equal(t, st.Lease.ExpiresAt, *s.until("more time",
			func(s state) bool { return s.Version >= st.Version }).LeaseExpiresAt)
	}
	st, err = one.Engine.Move(t.Context(), lobby, "", 30, 20, room.Action{})
	require.NoError(t, err)
	require.Contains(t, last.notice(1, "moved"), `"queue_position":20`, "the state comes first")

	again := two.dial(ids[29])
	again.untilPosition(20)
	st, err = one.Engine.Move(t.Context(), lobby, "", 30, 2, room.Action{})
	require.NoError(t, err)
	require.Contains(t, last.notice(2, "moved"), `"queue_position":2`)
	require.Contains(t, again.notice(1, "moved"), `"queue_position":2`,
		"a notice from before it came is not sent to a socket")
	require.Len(t, holder.notStates(), 1)
	require.Empty(t, other.notStates())
}
