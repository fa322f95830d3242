package sentinel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestTheLatestFailoverIsBelievedAndNotTheLastSpeaker(t *testing.T) {
	now := time.Now()
	away := errors.New("refused")
	for name, test := range map[string]struct {
		answers map[string]answer
		newest  string
	}{
		"nobody has spoken": {map[string]answer{"s1": {err: away, since: now}}, ""},
		"one is behind": {map[string]answer{"s1": {epoch: 2, addr: "new"},
			"s2": {epoch: 1, addr: "a"}}, "new"},
		"of one epoch all believe the same": {map[string]answer{"s1": {epoch: 1, addr: "b"},
			"s2": {epoch: 1, addr: "a"}, "s3": {epoch: 1, addr: "b"}}, "a"},
		"of one epoch who answers counts": {map[string]answer{"s1": {epoch: 0, addr: "a", err: away, since: now},
			"s2": {epoch: 0, addr: "b"}}, "b"},
		"who led the failover has died": {map[string]answer{"s1": {epoch: 2, addr: "new", err: away,
			since: now.Add(-forgetAfter)}, "s2": {epoch: 1, addr: "a"}}, "new"},
		"sentinels were set up anew, with epochs from the start": {map[string]answer{"s1": {epoch: 9, addr: "a",
			err: away, since: now.Add(-forgetAfter - 1)},
			"s2": {epoch: 0, addr: "new"}}, "new"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.newest, newest(test.answers, now)) })
	}
}

// A dial that began before the master moved would connect to the old one.
func TestConnectionThatTheMasterMovedAwayFromIsNone(t *testing.T) {
	m := newMaster(Config{Master: "m", Addrs: []string{"s"}})
	m.record("s", 1, "old:1", nil)
	m.record("s", 2, "new:1", nil)
	require.False(t, m.hold(&conn{master: m}, "old:1"))
	require.True(t, m.hold(&conn{master: m}, "new:1"))
}

func TestAReplicaIsRefusedThoughItIsNamed(t *testing.T) {
	s := redistest.StartSentinel(t)
	m := newMaster(Config{Master: "m", Addrs: []string{"s"}})
	m.record("s", 1, s.Replica().Addr(), nil)
	c := redis.NewClient(&redis.Options{Dialer: m.dial, OnConnect: isMaster, MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = c.Close() })
	require.ErrorIs(t, c.Get(context.Background(), "k").Err(), errReplica)
}

// silentAddr returns an address that never answers, not even by a refusal, like a machine without power.
func silentAddr(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	require.NoError(t, syscall.Listen(fd, 0))
	bound, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	addr := fmt.Sprintf("127.0.0.1:%d", bound.(*syscall.SockaddrInet4).Port)
	for { // until no more connections are accepted
		c, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { _ = c.Close() })
	}
}

// The pool dials again only after its last dial has ended.
func TestDialOfADeadMasterGoesOnWithTheNewOne(t *testing.T) {
	live := redistest.Start(t)
	m := newMaster(Config{Master: "m", Addrs: []string{"s"}})
	m.record("s", 1, silentAddr(t), nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dialed := make(chan net.Conn, 1)
	go func() {
		c, _ := m.dial(ctx, "", "")
		dialed <- c
	}()
	// the dial may have begun by then; the result is the same
	time.AfterFunc(50*time.Millisecond, func() { m.record("s", 2, live.Addr(), nil) })
	c := <-dialed
	require.NotNil(t, c)
	require.Equal(t, live.Addr(), c.RemoteAddr().String())
	require.NoError(t, c.Close())
	require.Empty(t, m.conns)
}
