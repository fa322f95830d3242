package hub_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/desk/desktest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// replicaNamed returns a page's entry of a replica; nil if there is none.
func replicaNamed(p *desktest.Page, name string) map[string]any {
	for _, r := range p.Replicas {
		if r["name"] == name {
			return r
		}
	}
	return nil
}

func TestSupportSeesHowTheReplicasAre(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client()
	var behind, differs atomic.Bool
	differing := func() string {
		if differs.Load() {
			return "lease"
		}
		return ""
	}
	cfg := func(name string) hub.Config {
		return hub.Config{Desk: desk.Settings{Name: name, Behind: behind.Load, Differing: differing},
			Probe: 200 * time.Millisecond, Linger: time.Minute}
	}
	one, two, three := start(t, rdb, room.Config{}, cfg("one")), start(t, rdb, room.Config{},
		cfg("two")), start(t, rdb, room.Config{}, cfg("three"))
	two.dial(room.NewSession())
	room, all := one.watch(lobby), one.watch("")
	for _, s := range []*screen{room, all} {
		s.until("all replicas", func(p *desktest.Page) bool {
			first, second := replicaNamed(p, "one"), replicaNamed(p, "two")
			return len(p.Replicas) == 3 && first["watchers"] == 2.0 && first["sockets"] == 0.0 &&
				second["sockets"] == 1.0 && second["rooms"] == 1.0 &&
				second["store"] == "ok" && second["ledger"] == "ok" && second["draining"] == false &&
				second["started_at"].(float64) > 1e12
		})
	}
	behind.Store(true)
	room.until("the ledger is behind", func(p *desktest.Page) bool {
		return replicaNamed(p,
			"two")["ledger"] == "behind"
	})
	differs.Store(true)
	room.until("settings differ", func(p *desktest.Page) bool {
		return replicaNamed(p, "two")["differing"] == "lease"
	})
	require.NoError(t, three.Hub.Drain(t.Context()))
	room.until("one drains", func(p *desktest.Page) bool {
		return replicaNamed(p,
			"three")["draining"] == true
	})
	three.end()
	room.until("it is gone", func(p *desktest.Page) bool {
		return len(p.Replicas) == 2 &&
			replicaNamed(p, "three") == nil
	})
	two.end()
	all.until("the other one is dead", func(p *desktest.Page) bool { return len(p.Replicas) == 1 })
}

func TestReplicasAreNotTakenForDeadByOneThatIsDeaf(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := server.Proxy()
	cfg := func(name string) hub.Config {
		return hub.Config{Desk: desk.Settings{Name: name}, Probe: 300 * time.Millisecond}
	}
	one := start(t, proxy.Client(), room.Config{}, cfg("one"))
	start(t, server.Client(), room.Config{}, cfg("two"))
	s := one.watch(lobby)
	s.until("both", func(p *desktest.Page) bool { return len(p.Replicas) == 2 })
	proxy.Refuse()
	proxy.CutAll()
	s.until("it knows that it is deaf", func(p *desktest.Page) bool {
		return replicaNamed(p,
			"one")["store"] == "stale"
	})
	n := s.count("beat")
	s.until("time passes", func(p *desktest.Page) bool { return p.Frames["beat"] > n+2 })
	require.True(t, s.shows(func(p *desktest.Page) bool { return len(p.Replicas) == 2 }))
	proxy.Heal()
	s.until("it hears again", func(p *desktest.Page) bool {
		return replicaNamed(p, "one")["store"] == "ok" &&
			len(p.Replicas) == 2
	})
}

func TestOnlyAReplicaWithWatchersListensToTheOthers(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t).Client()
	r := start(t, rdb, room.Config{}, hub.Config{})
	untilListening := func(want int64) {
		testproc.Until(t, within, func() error { return subscribers(t, rdb, "{waitroom}:replicas", want) })
	}
	untilListening(0)
	s := r.watch("")
	untilListening(1)
	s.until("one replica", func(p *desktest.Page) bool { return len(p.Replicas) == 1 })
	require.NoError(t, s.ws.CloseNow())
	untilListening(0)
}

func subscribers(t testing.TB, rdb redis.UniversalClient, channel string, want int64) error {
	n, err := rdb.PubSubNumSub(t.Context(), channel).Result()
	if err == nil && n[channel] != want {
		err = fmt.Errorf("%d listen", n[channel])
	}
	return err
}
