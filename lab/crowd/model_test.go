package crowd

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const epoch = 1_000_000

// scene is a room whose frames are made by hand. Each session has one socket, which has been open for long;
// all frames arrive at one time unless the test moves the scene's clock.
type scene struct {
	*Model
	now   time.Time
	views map[string]*View
}

func newScene(rules Rules) *scene {
	return &scene{Model: NewModel("integration", rules), now: time.UnixMilli(10_000), views: map[string]*View{}}
}

func (s *scene) watch(session string) *View {
	if s.views[session] == nil {
		s.views[session] = s.Watch(session, s.now.Add(-time.Minute))
	}
	return s.views[session]
}

func waits(version, ticket, position, length int64) State {
	return State{Epoch: epoch, Version: version, Status: "waiting", Ticket: ticket, Position: position,
		Length: length}
}

// holds returns the state of a holder whose fence is the time of its grant (µs); the lease has 2 s left.
func holds(version, ticket, fence int64) State {
	return State{Epoch: epoch, Version: version, Status: "locked", Ticket: ticket, Fence: fence,
		ServerTime: fence / 1000, ExpiresAt: fence/1000 + 2000}
}

func ends(version, ticket int64, outcome string) State {
	return State{Epoch: epoch, Version: version, Status: "ended", Ticket: ticket, Outcome: outcome}
}

func (s *scene) join(session string, now State) { s.Joined(session, now, s.now) }
func (s *scene) sees(session string, now State) { s.watch(session).See(now, s.now) }

// line joins the sellers a, b, c … at the versions 1, 2, 3 …; the first holds the lock.
func (s *scene) line(n int64) {
	for ticket := int64(1); ticket <= n; ticket++ {
		session := string(rune('a' + ticket - 1))
		s.watch(session)
		if ticket == 1 {
			s.join(session, holds(1, 1, 10_000_000))
			continue
		}
		s.join(session, waits(ticket, ticket, ticket-1, ticket-1))
	}
}

func (s *scene) violations() map[string]int {
	s.Finish()
	t, found := s.Tally()
	for _, v := range found {
		fmt.Println("   ", v.Kind, v.Detail)
	}
	return t.Violations
}

func TestATrueRoomBreaksNoRule(t *testing.T) {
	s := newScene(Rules{})
	s.line(4)
	s.sees("c", waits(4, 3, 2, 3))
	s.Answered("a", ends(5, 1, "completed"), s.now) // b is granted in the same step
	s.sees("b", holds(5, 2, 11_000_000))
	s.sees("c", waits(5, 3, 1, 2))
	s.sees("d", waits(5, 4, 2, 2))
	s.Answered("c", ends(6, 3, "cancelled"), s.now)
	s.sees("d", waits(6, 4, 1, 1))
	s.sees("b", ends(7, 2, "expired"))
	s.sees("d", holds(7, 4, 13_000_000))
	require.Empty(t, s.violations())
	tally, _ := s.Tally()
	require.Equal(t, map[string]int{"completed": 1, "cancelled": 1, "expired": 1}, tally.Outcomes)
	require.Equal(t, 4, tally.Tickets)
	require.Equal(t, 1, tally.Live)
	require.Equal(t, 3, tally.Leases)
	require.Equal(t, 7, tally.Checked)
	require.Equal(t, 4, tally.Exact, "of a socket that skipped versions, it is not known where in between it "+
		"left")
}

// The frames of one version arrive at different times and in any order; a late frame is no violation.
func TestFramesMayComeInAnyOrder(t *testing.T) {
	s := newScene(Rules{})
	s.line(4)
	s.sees("d", waits(6, 4, 1, 1))
	s.sees("c", waits(5, 3, 1, 2))
	s.sees("b", holds(6, 2, 11_000_000))
	s.Answered("c", ends(6, 3, "cancelled"), s.now)
	s.Answered("a", ends(5, 1, "completed"), s.now)
	require.Empty(t, s.violations())
}

func TestEachBrokenRuleIsFound(t *testing.T) {
	for _, test := range []struct {
		name, kind string
		lie        func(*scene)
	}{
		{"a version that goes back on a socket", VersionBack, func(s *scene) {
			s.sees("c", waits(4, 3, 2, 3))
			s.sees("c", waits(3, 3, 2, 2))
		}},
		{"two hold at one version", TwoHolders, func(s *scene) {
			s.sees("a", holds(5, 1, 10_000_000))
			s.sees("b", holds(5, 2, 11_000_000))
		}},
		{"one holds on after the next was granted", TwoHolders, func(s *scene) {
			s.sees("b", holds(5, 2, 11_000_000))
			s.sees("a", holds(6, 1, 10_000_000))
		}},
		{"a fence goes back", TwoHolders, func(s *scene) {
			s.sees("a", ends(5, 1, "completed"))
			s.sees("b", holds(5, 2, 9_000_000))
		}},
		{"one is shown as holding long after the next one's grant", TwoHolders, func(s *scene) {
			old := holds(4, 1, 10_000_000)
			old.ServerTime, old.ExpiresAt = 15_000, 20_000
			s.sees("a", old)
			s.sees("b", holds(5, 2, 11_000_000))
		}},
		{"one fence for two tickets", TwoHolders, func(s *scene) { s.sees("b", holds(5, 2, 10_000_000)) }},
		{"a lease that outlives its end", Overdue, func(s *scene) {
			old := holds(4, 1, 10_000_000)
			old.ServerTime = old.ExpiresAt + 2500
			s.sees("a", old)
		}},
		{"granted over one who was there", Overtaking, func(s *scene) {
			s.sees("a", ends(5, 1, "completed"))
			s.sees("c", holds(5, 3, 11_000_000))
			s.sees("b", waits(5, 2, 1, 2))
			s.sees("d", waits(5, 4, 2, 2))
		}},
		{"one position too far ahead", Position, func(s *scene) {
			s.sees("b", waits(4, 2, 1, 3))
			s.sees("c", waits(4, 3, 2, 3))
			s.sees("d", waits(4, 4, 2, 3))
		}},
		{"one position too far back", Position, func(s *scene) { s.sees("b", waits(4, 2, 2, 3)) }},
		{"a position that did not move", Position, func(s *scene) {
			s.sees("a", ends(5, 1, "completed"))
			s.sees("b", holds(5, 2, 11_000_000))
			s.sees("c", waits(5, 3, 2, 2))
			s.sees("d", waits(5, 4, 2, 2))
		}},
		{"behind the end of the line", Position, func(s *scene) { s.sees("d", waits(4, 4, 3, 2)) }},
		{"a place that is unknown", LostPlace, func(s *scene) {
			s.sees("c", State{Epoch: epoch, Version: 5, Status: "idle"})
		}},
		{"a place that became another", LostPlace, func(s *scene) { s.sees("c", waits(5, 7, 3, 3)) }},
		{"a place that is shown as lost", LostPlace, func(s *scene) { s.sees("c", ends(5, 3, "lost")) }},
		{"another ticket for pressing again", LostPlace, func(s *scene) {
			s.sees("d", waits(4, 4, 3, 3))
			s.join("d", waits(5, 5, 4, 4))
		}},
		{"an epoch without one's place", LostPlace, func(s *scene) {
			s.sees("c", State{Epoch: epoch + 1, Version: 1, Status: "idle"})
		}},
		{"two ends", TwoOutcomes, func(s *scene) {
			s.sees("c", ends(5, 3, "cancelled"))
			s.sees("c", ends(6, 3, "dropped"))
		}},
		{"waiting after the end", BackInLine, func(s *scene) {
			s.sees("c", ends(5, 3, "cancelled"))
			s.sees("c", waits(6, 3, 2, 3))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene(Rules{})
			s.line(4)
			test.lie(s)
			require.NotZero(t, s.violations()[test.kind])
		})
	}
}

func TestAwaySellerIsNotOvertaken(t *testing.T) {
	s := newScene(Rules{})
	s.line(3)
	s.views["b"].Close(s.now.Add(-time.Second))
	s.sees("a", ends(4, 1, "completed"))
	s.sees("c", holds(4, 3, 11_000_000))
	s.views["b"] = s.Watch("b", s.now.Add(time.Second))
	s.sees("b", waits(4, 2, 1, 1))
	require.Empty(t, s.violations())
}

// A state that settles after the last socket has closed is judged by the sockets that were open at its time.
func TestOvertakingIsFoundAfterTheSocketsAreClosed(t *testing.T) {
	s := newScene(Rules{})
	s.line(3)
	s.sees("a", ends(4, 1, "completed"))
	s.sees("c", holds(4, 3, 11_000_000))
	s.sees("b", waits(4, 2, 1, 1))
	s.views["b"].Close(s.now.Add(time.Second))
	require.NotZero(t, s.violations()[Overtaking])
}

func TestWhereOthersAreInTheRoomOrderIsNotJudged(t *testing.T) {
	s := newScene(Rules{Open: true})
	s.line(4)
	s.sees("d", waits(5, 4, 1, 3)) // support moved it
	require.Empty(t, s.violations())
}

func TestSellersThatWaitedBeforeTheCrowdAreCountedIn(t *testing.T) {
	s := newScene(Rules{})
	s.Begin(epoch, 9, 2)
	s.join("a", waits(10, 8, 3, 3))
	s.sees("a", waits(11, 8, 2, 2))
	require.Empty(t, s.violations())
	s.join("b", waits(12, 9, 5, 5))
	require.NotZero(t, s.violations()[Position])
}

func TestALossThatIsAllowedKeepsWhatIsLeft(t *testing.T) {
	s := newScene(Rules{AllowLost: true})
	s.line(4)
	later := func(now State) State { now.Epoch = epoch + 1; return now }
	s.sees("a", later(ends(1, 1, "lost")))
	s.sees("b", later(waits(1, 2, 1, 2)))
	s.sees("c", later(State{Version: 1, Status: "idle"}))
	s.sees("d", later(waits(1, 4, 2, 2)))
	s.sees("b", later(holds(2, 2, 12_000_000)))
	s.sees("d", later(waits(2, 4, 1, 1)))
	require.Empty(t, s.violations())
	tally, _ := s.Tally()
	require.Equal(t, 2, tally.Epochs)
	require.Equal(t, 2, tally.Live)
	require.Equal(t, map[string]int{"lost": 1, "lost, unseen": 1}, tally.Outcomes)
}

// After a loss ticket numbers may repeat: a tab that still shows the place before says nothing about the new
// one.
func TestTheSameTicketOfTwoEpochsIsTwoPlaces(t *testing.T) {
	s := newScene(Rules{AllowLost: true})
	s.line(3)
	later := func(now State) State { now.Epoch = epoch + 1; return now }
	s.sees("c", later(ends(1, 3, "lost")))
	s.join("d", later(waits(2, 3, 1, 1)))
	s.sees("d", later(ends(3, 3, "cancelled")))
	tab := s.Watch("c", s.now)
	tab.See(later(ends(3, 3, "lost")), s.now)
	require.Empty(t, s.violations())
}

func TestTicketsAreCountedInAnyOrder(t *testing.T) {
	var c counts
	for _, n := range []int64{500, 3, 70, 1, 64, 65} {
		c.set(n, true)
		c.set(n, true)
	}
	c.set(70, false)
	require.EqualValues(t, 0, c.upTo(0))
	require.EqualValues(t, 2, c.upTo(63))
	require.EqualValues(t, 4, c.upTo(499))
	require.EqualValues(t, 5, c.upTo(10_000))
	require.False(t, c.has(70))
	require.False(t, c.has(10_000))
}
