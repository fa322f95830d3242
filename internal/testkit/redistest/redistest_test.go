package redistest_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestServerComesBackOnItsPortWithItsSavedData(t *testing.T) {
	ctx := context.Background()
	s := redistest.StartWith(t, redistest.Config{Args: []string{
		"--appendonly", "yes", "--appendfsync", "always",
		"--notify-keyspace-events", "Kgx",
		"--rename-command", "FLUSHALL", "",
	}})
	require.NoError(t, s.Client().Set(ctx, "k", "v", 0).Err())
	config, err := s.Client().ConfigGet(ctx, "notify-keyspace-events").Result()
	require.NoError(t, err)
	require.ElementsMatch(t, []byte("Kgx"), []byte(config["notify-keyspace-events"]))
	require.ErrorContains(t, s.Client().FlushAll(ctx).Err(), "unknown command")
	addr := s.Addr()

	s.Restart()
	require.Equal(t, addr, s.Addr())
	require.Equal(t, "v", s.Client().Get(ctx, "k").Val())

	s.Stop()
	require.Error(t, s.Client().Ping(ctx).Err())
	s.Restart()
	require.NoError(t, s.Client().Ping(ctx).Err())
}

func TestEachUserOfTheSharedServerHasAnEmptyDatabase(t *testing.T) {
	ctx := context.Background()
	one, other := redistest.Shared(t), redistest.Shared(t)
	require.Equal(t, one.Options().Addr, other.Options().Addr)
	require.NoError(t, one.Set(ctx, "k", "v", 0).Err())
	require.Zero(t, other.DBSize(ctx).Val())
	require.NoError(t, other.FlushDB(ctx).Err())
	require.Equal(t, "v", one.Get(ctx, "k").Val())
}

func TestPausedServerAnswersOnlyAfterResume(t *testing.T) {
	ctx := context.Background()
	s := redistest.Start(t)
	impatient := redis.NewClient(&redis.Options{Addr: s.Addr(), ReadTimeout: 50 * time.Millisecond,
		MaxRetries: -1})
	t.Cleanup(func() { _ = impatient.Close() })
	require.Eventually(t, func() bool {
		return impatient.Ping(ctx).Err() == nil
	}, time.Minute, 5*time.Millisecond)
	s.Pause()
	require.ErrorContains(t, impatient.Ping(ctx).Err(), "timeout")
	s.Resume()
	require.NoError(t, s.Client().Ping(ctx).Err())
}

func TestClientRunsAScriptTwiceWhenItsReplyIsLost(t *testing.T) {
	ctx := context.Background()
	p := redistest.Start(t).Proxy()
	c := p.Client()
	script := redis.NewScript(`return redis.call('INCR', KEYS[1])`)
	require.NoError(t, script.Load(ctx, c).Err())

	lost := p.DropNextReply(redistest.Command("EVALSHA"))
	n, err := script.Run(ctx, c, []string{"n"}).Int()
	require.NoError(t, err)
	require.Equal(t, 2, n)
	<-lost

	n, err = script.Run(ctx, c, []string{"n"}).Int()
	require.NoError(t, err)
	require.Equal(t, 3, n)
}

func TestOnlyTheMatchingReplyOfAPipelineIsLost(t *testing.T) {
	ctx := context.Background()
	s := redistest.Start(t)
	p := s.Proxy()
	c := redis.NewClient(&redis.Options{Addr: p.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })

	lost := p.DropNextReply(redistest.Command("INCR"))
	pipe := c.Pipeline()
	pipe.HSet(ctx, "h", "a", 1)
	all := pipe.HGetAll(ctx, "h")
	incr := pipe.Incr(ctx, "n")
	_, err := pipe.Exec(ctx)
	require.Error(t, err)
	<-lost
	require.Equal(t, map[string]string{"a": "1"}, all.Val())
	require.Error(t, incr.Err())
	require.Equal(t, "1", s.Client().Get(ctx, "n").Val())
}

func TestSubscriptionGoesThroughTheProxyAndIsCut(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s := redistest.Start(t)
		p := s.Proxy()
		c := redis.NewClient(&redis.Options{Addr: p.Addr(), Protocol: protocol})
		t.Cleanup(func() { _ = c.Close() })
		sub := c.Subscribe(ctx, "ch")
		t.Cleanup(func() { _ = sub.Close() })
		_, err := sub.Receive(ctx)
		require.NoError(t, err)

		require.NoError(t, s.Client().Publish(ctx, "ch", "one").Err())
		message, err := sub.ReceiveMessage(ctx)
		require.NoError(t, err)
		require.Equal(t, "one", message.Payload)

		p.CutAll()
		_, err = sub.Receive(ctx)
		require.Error(t, err)
		_, err = sub.Receive(ctx) // subscribed again by the client
		require.NoError(t, err)
	}
}

func TestRefusedClientGetsInAfterAccept(t *testing.T) {
	ctx := context.Background()
	p := redistest.Start(t).Proxy()
	p.Refuse()
	require.Error(t, p.Client().Ping(ctx).Err())
	p.Accept()
	require.NoError(t, p.Client().Ping(ctx).Err())
}

func TestBlackholeHoldsOneDirectionUntilHeal(t *testing.T) {
	ctx := context.Background()
	s := redistest.Start(t)
	p := s.Proxy()
	c := p.Client()
	require.NoError(t, c.Ping(ctx).Err())

	p.Blackhole(redistest.ToClient)
	answer := make(chan error, 1)
	go func() { answer <- c.Incr(ctx, "n").Err() }()
	require.Eventually(t, func() bool { return s.Client().Get(ctx, "n").Val() == "1" }, time.Minute,
		5*time.Millisecond)
	require.Empty(t, answer)

	p.Heal()
	require.NoError(t, <-answer)
}

func TestServerGoesByTheClockItIsGiven(t *testing.T) {
	ctx := context.Background()
	clock := redistest.NewClock(t)
	s := redistest.StartWith(t, redistest.Config{Clock: clock})
	off := func() time.Duration { return time.Until(s.Client().Time(ctx).Val()).Round(10 * time.Second) }
	require.Zero(t, off())
	clock.Set(-30 * time.Second)
	require.Equal(t, -30*time.Second, off())
	clock.Set(20 * time.Second)
	require.Equal(t, 20*time.Second, off())
}

func TestSentinelClientFollowsTheMaster(t *testing.T) {
	ctx := context.Background()
	s := redistest.StartSentinel(t)
	c := s.Client()
	require.NoError(t, c.Set(ctx, "k", "v", 0).Err())
	first := s.Master()

	s.Failover()
	second := s.Master()
	require.NotEqual(t, first, second)
	write := func() bool { return c.Set(ctx, "k", "w", 0).Err() == nil }
	require.Eventually(t, func() bool { // until a sentinel has sent the new address, it writes to the old one
		return write() && second.Client().Get(ctx, "k").Val() == "w"
	}, time.Minute, 10*time.Millisecond)

	dead := s.KillMaster()
	require.Equal(t, second, dead)
	require.Equal(t, first, s.Master())
	require.Eventually(t, write, time.Minute, 10*time.Millisecond)
}

func TestMasterThatIsShutOutIsReplacedAndComesBackAsAReplica(t *testing.T) {
	ctx := context.Background()
	s := redistest.StartSentinelWith(t, redistest.SentinelConfig{Users: true})
	old, replica := s.Master(), s.Replica()
	s.StopReplication(old)
	require.NoError(t, old.Client().Set(ctx, "k", "lost", 0).Err(), "others still reach it")
	s.StopObserving(old)
	s.AwaitFailover(old)
	require.Equal(t, replica, s.Master())
	require.Zero(t, s.Master().Client().Exists(ctx, "k").Val())
	s.Reunite(old)
	s.Follow(old)
	s.AwaitWhole()
	require.Zero(t, old.Client().Exists(ctx, "k").Val(), "what it took alone is gone")
}

func TestClusterServesEverySlot(t *testing.T) {
	ctx := context.Background()
	c := redistest.StartCluster(t)
	client := c.Client()
	for _, room := range []string{"{a}", "{b}", "{c}", "{d}", "{e}", "{f}"} {
		require.NoError(t, client.Set(ctx, room+":k", room, 0).Err())
		require.Equal(t, room, client.Get(ctx, room+":k").Val())
	}
	held := 0
	for _, node := range c.Nodes() {
		held += int(node.Client().DBSize(ctx).Val())
	}
	require.Equal(t, 6, held)
}

func TestEmbeddedKeyEndsByTheClock(t *testing.T) {
	ctx := context.Background()
	m := redistest.StartEmbedded(t)
	c := redis.NewClient(&redis.Options{Addr: m.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.Set(ctx, "k", "v", 20*time.Millisecond).Err())
	require.Eventually(t, func() bool { return c.Exists(ctx, "k").Val() == 0 }, time.Minute, 5*time.Millisecond)
}
