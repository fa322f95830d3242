package hub_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

func TestCodeIsSentToNoSocketTenMinutesAndASecondAfterItCame(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	begin := time.Now().Truncate(time.Millisecond)
	embedded.SetTime(begin)
	r := start(t, rdb, room.Config{Lease: 5 * time.Minute, Journal: 1000}, hub.Config{Unnotified: true})
	ids := sessions(3)
	holder := r.dial(ids[0])
	for _, id := range ids {
		join(t, r.Engine, id)
	}
	came := begin.Add(time.Second)
	embedded.SetTime(came)
	message := func(id string, want room.Result) {
		m, err := r.Engine.Match(t.Context(), lobby,
			room.MatchRequest{MessageID: id, From: begin.UnixMilli(), To: begin.UnixMilli() + 1,
				Shown: room.Message{Text: id + " 482913", Code: new("482913")}})
		require.NoError(t, err)
		require.Equal(t, want, m.Result)
		require.NoError(t, r.Engine.SettleMatch(t.Context(), lobby, id, 0, true))
	}
	message("in its lease", room.Matched)
	message("late", room.Late)
	require.Equal(t, "482913", holder.untilOther(2)["code"])

	embedded.SetTime(came.Add(10*time.Minute - 30*time.Second))
	require.Equal(t, "482913", r.dial(ids[0]).untilOther(2)["code"], "it is shown again on reload")

	embedded.SetTime(came.Add(10*time.Minute + time.Second))
	_, seats, err := r.Engine.Look(t.Context(), lobby, ids[0])
	require.NoError(t, err)
	require.Empty(t, seats[0].Messages)
	// the next reply of Redis shows the jump
	for now := int64(0); now < came.Add(10*time.Minute).UnixMilli(); {
		r.dial(room.NewSession()).until("a state", func(st state) bool {
			now = st.ServerTime
			return true
		})
	}
	again := r.dial(ids[0])
	again.untilOutcome(room.Completed)
	join(t, r.Engine, ids[0]) // a new place: frames of the old one come before
	for _, s := range []*socket{holder, again} {
		s.until("a new place", func(st state) bool { return value(st.Ticket) == int64(len(ids)+1) })
	}
	require.Empty(t, again.notStates())
	require.Len(t, holder.notStates(), 2, "nor once more")
	_, err = r.Engine.Expire(t.Context(), lobby)
	require.NoError(t, err)
	require.False(t, embedded.Exists("{integration}:texts") || embedded.Exists("{integration}:inbox"))
}

// notStates returns the frames received so far that are not of type state.
func (s *socket) notStates() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.others)
}

// Earlier messages have later times than the clock, and no further message corrects them.
func TestFramesGoByRedissClockAsSoonAsItWasSetBack(t *testing.T) {
	for when, away := range map[string]bool{"and can be asked": false, "and is away just then": true} {
		t.Run(when, func(t *testing.T) {
			embedded, registry := redistest.StartEmbedded(t), prometheus.NewRegistry()
			proxy := redistest.StartProxy(t, embedded.Addr())
			rdb := redis.NewClient(&redis.Options{Addr: proxy.Addr(), MaxRetries: -1})
			t.Cleanup(func() { _ = rdb.Close() })
			begin := time.Now().Truncate(time.Millisecond)
			embedded.SetTime(begin)
			r := start(t, rdb, room.Config{}, hub.Config{Unnotified: true, Registerer: registry})
			r.dial(room.NewSession()).until("a state",
				func(st state) bool { return st.ServerTime >= begin.UnixMilli() })
			embedded.SetTime(begin.Add(-time.Hour))
			if away {
				proxy.Refuse()
				proxy.CutAll()
			}
			r.Hub.ClockTurned()
			if away {
				testproc.Until(t, within, func() error {
					if counted(t, registry, "waitroom_hub_store_failures_total") == 0 {
						return errors.New("nothing was asked")
					}
					return nil
				})
				proxy.Heal()
			}
			testproc.Until(t, within, func() (err error) {
				r.dial(room.NewSession()).until("a state", func(st state) bool {
					if st.ServerTime > begin.Add(-30*time.Minute).UnixMilli() {
						err = fmt.Errorf("server_time is %d", st.ServerTime)
					}
					return true
				})
				return err
			})
		})
	}
}
