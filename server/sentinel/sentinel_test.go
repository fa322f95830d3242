package sentinel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/server/sentinel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, s *redistest.Sentinel, change ...func(*sentinel.Config)) *redis.Client {
	t.Helper()
	c := sentinel.Config{Master: redistest.MasterName, Addrs: s.Addrs(),
		Options: redis.Options{MaxRetries: -1, DialerRetries: 1}}
	for _, f := range change {
		f(&c)
	}
	client, stop := sentinel.NewClient(c)
	t.Cleanup(stop)
	return client
}

// named waits until the client answers, and returns the server's name.
func named(t *testing.T, c *redis.Client, other string) string {
	t.Helper()
	var id string
	testproc.Until(t, time.Minute, func() (err error) {
		if id, err = runID(t.Context(), c); err == nil && id == other {
			return errors.New("the old master answers")
		}
		return err
	})
	return id
}

func runID(ctx context.Context, c *redis.Client) (string, error) {
	info, err := c.Info(ctx, "server").Result()
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(info, "run_id:")
	id, _, _ := strings.Cut(rest, "\r\n")
	return id, nil
}

// One sentinel alone knows of a failover: the others are asleep, and the old master gets no notice. A client
// of one of the others stays there.
func TestAMasterThatAnySentinelNamesIsFollowed(t *testing.T) {
	s := redistest.StartSentinelWith(t, redistest.SentinelConfig{Users: true})
	old := s.Master()
	c := client(t, s)
	before := named(t, c, "")
	sub := c.Subscribe(t.Context(), "somewhere")
	t.Cleanup(func() { _ = sub.Close() })
	_, err := sub.Receive(t.Context())
	require.NoError(t, err)
	s.PauseObserver(1)
	s.PauseObserver(2)
	s.StopObserving(old)
	testproc.Until(t, time.Minute, func() error { return s.FailoverBy(0) })
	require.NotEqual(t, before, named(t, c, before))
	_, err = sub.Receive(t.Context())
	require.Error(t, err, "what was connected to the old master is not any more")
	require.NoError(t, c.Set(t.Context(), "k", "v", 0).Err())
	require.NoError(t, old.Client().Set(t.Context(), "k", "old", 0).Err(), "it is still there, and takes writes")
}

// lines is a log that keeps its lines.
type lines struct {
	sync.Mutex
	strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Builder.Write(p)
}

func (l *lines) text() string {
	l.Lock()
	defer l.Unlock()
	return l.String()
}

func TestOneSentinelNamesTheOthersAndTheMoveIsLogged(t *testing.T) {
	s := redistest.StartSentinel(t)
	var log lines
	c := client(t, s, func(c *sentinel.Config) {
		c.Addrs = c.Addrs[2:]
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	before := named(t, c, "")
	require.Empty(t, log.text())
	s.Failover()
	named(t, c, before)
	require.Contains(t, log.text(), "the sentinels name another master")
	require.Contains(t, log.text(), s.Master().Addr())
}

func TestWhatIsWrongWithTheSentinelsIsSaid(t *testing.T) {
	s := redistest.StartSentinel(t)
	for name, test := range map[string]struct {
		change func(*sentinel.Config)
		says   string
	}{
		"another master": {func(c *sentinel.Config) { c.Master = "nobody" }, "No such master"},
		"nobody there": {func(c *sentinel.Config) {
			c.Addrs = []string{fmt.Sprintf("127.0.0.1:%d",
				testproc.FreePort(t))}
		}, "refused"},
		"a password": {func(c *sentinel.Config) { c.Username, c.Password = "me", "hush" }, "WRONGPASS"},
	} {
		t.Run(name, func(t *testing.T) {
			err := client(t, s, test.change).Ping(t.Context()).Err()
			require.ErrorContains(t, err, "none of the sentinels")
			require.ErrorContains(t, err, test.says)
			require.NotContains(t, err.Error(), "hush")
		})
	}
}
