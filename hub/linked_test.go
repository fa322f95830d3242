package hub_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/links"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
)

// linkStore holds the links of sessions, and records for which sessions it was called.
type linkStore struct {
	mu        sync.Mutex
	of        map[string]links.Link
	fails     int // so many questions from now on
	asked     []string
	questions [][]string
	held      chan struct{} // until it is closed there is no answer; nil = there is
}

func (l *linkStore) find(ctx context.Context, _ room.ID, sessions []string) ([]links.Link, error) {
	l.mu.Lock()
	l.asked, l.questions = append(l.asked, sessions...), append(l.questions, slices.Clone(sessions))
	l.mu.Unlock()
	if l.held != nil {
		select {
		case <-l.held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails--; l.fails >= 0 {
		return nil, errors.New("no answer")
	}
	found := make([]links.Link, len(sessions))
	for i, s := range sessions {
		found[i] = l.of[s]
	}
	return found, nil
}

func (l *linkStore) lead(session string, to links.Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of = map[string]links.Link{session: to}
}

func (l *linkStore) times(session string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.asked {
		if s == session {
			n++
		}
	}
	return n
}

func startLinked(t *testing.T, l *linkStore) *replica {
	return start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Linked: l.find})
}

func TestSocketThatStandsForAnotherSessionsPlaceShowsThatUntilItHasOneOfItsOwn(t *testing.T) {
	all := new(linkStore)
	r := startLinked(t, all)
	ids := sessions(3)
	join(t, r.Engine, ids[2])
	place := join(t, r.Engine, ids[0])
	all.lead(ids[1], links.Link{Session: ids[0], Ticket: place.Ticket})
	guests := []*socket{r.dial(ids[1]), r.dial(ids[1])}
	for _, guest := range guests {
		first := guest.until("the first state", func(state) bool { return true })
		require.Equal(t, "waiting", first.Status)
		require.Equal(t, place.Ticket, *first.Ticket)
	}
	leave(t, r.Engine, ids[2], room.Completed)
	for _, guest := range guests {
		guest.untilStatus(room.Locked)
	}
	join(t, r.Engine, ids[1])
	for _, guest := range guests {
		require.Equal(t, 4003, guest.untilClosed())
	}
	require.Equal(t, "waiting", r.dial(ids[1]).until("the first state",
		func(state) bool { return true }).Status)
}

func TestSessionWithAPlaceOfItsOwnIsLinkedToNoOther(t *testing.T) {
	all := new(linkStore)
	r := startLinked(t, all)
	ids := sessions(2)
	join(t, r.Engine, ids[0])
	place := join(t, r.Engine, ids[1])
	all.lead(ids[1], links.Link{Session: ids[0], Ticket: 1})
	own := r.dial(ids[1])
	require.Equal(t, place.Ticket, *own.until("the first state", func(state) bool { return true }).Ticket)
	leave(t, r.Engine, ids[1], room.Cancelled)
	own.untilOutcome(room.Cancelled)
	require.Zero(t, all.times(ids[1]), "nor is it looked for")
	require.Equal(t, "locked", r.dial(ids[1]).until("the first state",
		func(state) bool { return true }).Status)
	require.Equal(t, "ended", func() string { s, _ := own.last(); return s.Status }(),
		"the first one stays what it was")
}

func TestSocketGetsNothingBeforeItsPlaceIsKnown(t *testing.T) {
	all := &linkStore{fails: 3}
	r := startLinked(t, all)
	ids := sessions(2)
	place := join(t, r.Engine, ids[0])
	all.lead(ids[1], links.Link{Session: ids[0], Ticket: place.Ticket, Fence: place.Fence})
	require.Equal(t, "locked", r.dial(ids[1]).until("the first state",
		func(state) bool { return true }).Status)
	require.GreaterOrEqual(t, all.times(ids[1]), 4)
	require.Equal(t, "idle", r.dial(room.NewSession()).until("the first state",
		func(state) bool { return true }).Status)
}

func TestLookupOfASocketsPlaceDelaysNoOtherSocket(t *testing.T) {
	all := &linkStore{held: make(chan struct{})}
	r := start(t, redistest.Start(t).Client(), room.Config{Keys: seal.NewKeyring([]byte("a secret"))},
		hub.Config{Linked: all.find})
	ids := sessions(3)
	join(t, r.Engine, ids[0])
	holder, unsure := r.dial(ids[0]), r.dial(ids[1])
	holder.untilStatus(room.Locked)
	untilAsked(t, all, ids[1])
	_, err := r.Engine.Match(t.Context(), lobby,
		room.MatchRequest{MessageID: "m", Keep: true,
			Shown: room.Message{Text: "482913", Code: new("482913")}})
	require.NoError(t, err)
	require.NoError(t, r.Engine.SettleMatch(t.Context(), lobby, "m", 0, true))
	require.Equal(t, "482913", holder.untilOther(1)["code"])
	join(t, r.Engine, ids[2])
	r.dial(ids[2]).untilStatus(room.Waiting)
	_, sent := unsure.last()
	require.False(t, sent)

	join(t, r.Engine, ids[1])
	unsure.untilPosition(2) // its own place: whatever the answer will be
	close(all.held)
}

func TestSessionsSocketsAreAskedForTogether(t *testing.T) {
	all := &linkStore{held: make(chan struct{})}
	r := startLinked(t, all)
	ids := sessions(3)
	place := join(t, r.Engine, ids[0])
	all.lead(ids[1], links.Link{Session: ids[0], Ticket: place.Ticket, Fence: place.Fence})
	r.dial(ids[2])
	untilAsked(t, all, ids[2])
	guests := []*socket{r.dial(ids[1]), r.dial(ids[1]), r.dial(ids[1])}
	close(all.held)
	for _, guest := range guests {
		require.Equal(t, "locked", guest.until("the first state", func(state) bool { return true }).Status)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, one := range all.questions {
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(one))), len(one), "each once in a question")
	}
}

func untilAsked(t *testing.T, l *linkStore, session string) {
	t.Helper()
	testproc.Until(t, within, func() error {
		if l.times(session) == 0 {
			return errors.New("not asked")
		}
		return nil
	})
}

// The owner of the place may join again between the look that found the place and the subscription of the
// socket. Both browsers are connected here.
func TestSocketThatOpensForAPlaceThatIsAnotherByThenIsClosedAtOnce(t *testing.T) {
	all := new(linkStore)
	r := startLinked(t, all)
	ids := sessions(2)
	owner := r.dial(ids[0])
	before := join(t, r.Engine, ids[0])
	leave(t, r.Engine, ids[0], room.Completed)
	owner.untilStatus(room.Ended)
	after := join(t, r.Engine, ids[0])
	owner.until("the other place", func(st state) bool {
		return st.Ticket != nil &&
			*st.Ticket == after.Ticket
	})
	all.lead(ids[1], links.Link{Session: ids[0], Ticket: before.Ticket, Fence: before.Fence})
	guest := r.dial(ids[1])
	require.EqualValues(t, 4003, guest.untilClosed())
	require.Empty(t, slices.Clone(guest.raw), "nothing of the other place")
}

func TestWindowsOfABrowserThatWasLetInComeBackForThePlace(t *testing.T) {
	all, rdb := new(linkStore), redistest.Start(t).Client()
	one, two := start(t, rdb, room.Config{}, hub.Config{Linked: all.find}), start(t, rdb, room.Config{},
		hub.Config{Linked: all.find})
	ids := sessions(5)
	owner, browser, linked, neighbour, stranger := ids[0], ids[1], ids[2], ids[3], ids[4]
	earlier := join(t, one.Engine, browser)
	leave(t, one.Engine, browser, room.Completed)
	place := join(t, one.Engine, owner)
	join(t, one.Engine, neighbour)
	all.of = map[string]links.Link{linked: {Session: browser, Ticket: earlier.Ticket, Fence: earlier.Fence}}
	here, nextInLine, idle, over := one.dial(owner), one.dial(neighbour), two.dial(stranger), two.dial(linked)
	here.untilStatus(room.Locked)
	nextInLine.untilStatus(room.Waiting)
	idle.untilStatus(room.Idle)
	over.untilOutcome(room.Completed)
	comesBack := func(session string, windows ...*socket) {
		t.Helper()
		for _, w := range windows {
			w.until("the first state", func(state) bool { return true })
		}
		all.lead(session, links.Link{Session: owner, Ticket: place.Ticket, Fence: place.Fence})
		require.NoError(t, one.Hub.JoinedDevice(t.Context(), lobby, owner, session))
		for _, w := range windows {
			require.Equal(t, 4003, w.untilClosed())
			require.Equal(t, "locked", two.dial(session).until("the first state",
				func(state) bool { return true }).Status)
		}
	}
	comesBack(browser, one.dial(browser), two.dial(browser))
	comesBack(linked, over) // which stood for that browser's earlier place until now
	comesBack(neighbour)    // who has come to a place of its own meanwhile
	require.Equal(t, "joined_device", here.untilOther(3)["notice"])
	leave(t, one.Engine, owner, room.Completed)
	here.untilOutcome(room.Completed)
	nextInLine.untilStatus(room.Locked)
	idle.until("that the line is empty", func(st state) bool { return st.QueueLength == 0 })
}

// During an upgrade an older replica is still there. It reads the rest of the message after the room as the
// owner's session, and its own messages have no more than that.
func TestReplicasOfBeforeAndOfNowUnderstandWhatIsSaidOfAJoinedDevice(t *testing.T) {
	r := startLinked(t, new(linkStore))
	ids := sessions(2)
	join(t, r.Engine, ids[0])
	owner := r.dial(ids[0])
	owner.untilStatus(room.Locked)
	said := r.Redis.Subscribe(t.Context(), "{waitroom}:joined-device")
	defer func() { _ = said.Close() }()
	_, err := said.Receive(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Hub.JoinedDevice(t.Context(), lobby, ids[0], ids[1]))
	require.Equal(t, "integration "+ids[0], (<-said.Channel()).Payload)
	_, session, _ := strings.Cut((<-said.Channel()).Payload, " ")
	require.NotContains(t, ids, session, "no socket is notified that another browser has joined the one that did")
	require.NoError(t, r.Redis.Publish(t.Context(), "{waitroom}:joined-device", "integration "+ids[0]).Err())
	require.Equal(t, "joined_device", owner.untilOther(2)["notice"])
}
