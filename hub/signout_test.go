package hub_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/desk/desktest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func there(p *desktest.Page) bool { return p.Frames["desk"]+p.Frames["rooms"] > 0 }

func TestSignOutClosesTheSocketsOfThatSignInOnEveryReplica(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client()
	one, two := start(t, rdb, room.Config{}, hub.Config{}), start(t, rdb, room.Config{}, hub.Config{})
	mine, hers := desk.Watcher{Key: "mine"}, desk.Watcher{Key: "hers"}
	gone := []*screen{one.watchAs(lobby, mine), two.watchAs(lobby, mine), two.watchAs("", mine)}
	stays := []*screen{one.watchAs(lobby, hers), two.watchAs("", hers)}
	for _, s := range append(gone, stays...) {
		s.until("the first frame", there)
	}
	require.NoError(t, one.Hub.SignOut(t.Context(), "mine"))
	for _, s := range gone {
		require.Equal(t, 4501, s.untilClosed())
	}
	for _, s := range stays {
		n := s.count("beat")
		s.until("it goes on", func(p *desktest.Page) bool { return p.Frames["beat"] > n })
	}
}

func TestSignOutThatWasMissedIsFoundWhenTheSubscriptionIsRenewed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := server.Proxy()
	r := start(t, splitClient{server.Client(), proxy.Client()}, room.Config{},
		hub.Config{Probe: 100 * time.Millisecond})
	var over atomic.Bool
	var asked atomic.Int32
	valid := func(context.Context) (bool, error) {
		if over.Load() && asked.Add(1) == 1 {
			return false, errors.New("not known just now")
		}
		return !over.Load(), nil
	}
	mine := r.watchAs(lobby, desk.Watcher{Key: "mine", Valid: valid})
	hers := r.watchAs(lobby, desk.Watcher{Key: "hers",
		Valid: func(context.Context) (bool, error) { return true, nil }})
	mine.until("the room", there)
	hers.until("the room", there)
	proxy.Refuse()
	proxy.CutAll()
	over.Store(true)
	require.NoError(t, r.Redis.Publish(t.Context(), "{waitroom}:signed-out", "mine").Err())
	proxy.Heal()
	require.Equal(t, 4501, mine.untilClosed())
	n := hers.count("beat")
	hers.until("it goes on", func(p *desktest.Page) bool { return p.Frames["beat"] > n })
}

func TestSocketThatWasUnderWayWhileItsSignInEndedIsClosed(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	s := r.watchAs(lobby, desk.Watcher{Valid: func(context.Context) (bool, error) { return false, nil }})
	require.Equal(t, 4501, s.untilClosed())
}

func TestSignInThatIsGoneWithoutASignOutIsFound(t *testing.T) {
	t.Parallel()
	cfg := hub.Config{Desk: desk.Settings{Recheck: 100 * time.Millisecond}}
	r := start(t, redistest.Start(t).Client(), room.Config{}, cfg)
	var gone, away atomic.Bool
	asked := make(chan struct{}, 1)
	valid := func(context.Context) (bool, error) {
		if away.Load() {
			select {
			case asked <- struct{}{}:
			default:
			}
			return false, errors.New("the store is away")
		}
		return !gone.Load(), nil
	}
	screens := []*screen{r.watchAs(lobby, desk.Watcher{Key: "mine", Valid: valid}),
		r.watchAs("", desk.Watcher{Key: "mine", Valid: valid})}
	hers := r.watchAs("", desk.Watcher{Key: "hers",
		Valid: func(context.Context) (bool, error) { return true, nil }})
	for _, s := range append(screens, hers) {
		s.until("the first frame", there)
	}
	away.Store(true)
	for range 10 {
		select {
		case <-asked:
		case <-time.After(within):
			require.Fail(t, "it is not asked again")
		}
	}
	for _, s := range screens { // an error is no verdict
		n := s.count("beat")
		s.until("it goes on", func(p *desktest.Page) bool { return p.Frames["beat"] > n })
	}
	gone.Store(true)
	away.Store(false)
	for _, s := range screens {
		require.Equal(t, 4501, s.untilClosed())
	}
	n := hers.count("beat")
	hers.until("it goes on", func(p *desktest.Page) bool { return p.Frames["beat"] > n })
}

func TestSocketIsClosedWhenItsSignInEndsByTime(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	until := time.Now().Add(3 * time.Second)
	s := r.watchAs("", desk.Watcher{Until: until})
	later := r.watchAs("", desk.Watcher{Until: until.Add(time.Hour)})
	require.Equal(t, 4501, s.untilClosed())
	require.False(t, time.Now().Before(until))
	n := later.count("beat")
	later.until("it goes on", func(p *desktest.Page) bool { return p.Frames["beat"] > n })
}
