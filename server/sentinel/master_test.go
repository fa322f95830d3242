package sentinel

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/redistest"
)

func TestTheLatestFailoverIsBelievedAndNotWhoeverSpokeLast(t *testing.T) {
	now := time.Now()
	away := errors.New("refused")
	for name, test := range map[string]struct {
		answers map[string]answer
		newest  string
	}{
		"nobody has spoken": {map[string]answer{"s1": {err: away, since: now}}, ""},
		"one is behind":     {map[string]answer{"s1": {epoch: 2, addr: "new", at: now.Add(-time.Hour)}, "s2": {epoch: 1, addr: "old", at: now}}, "new"},
		"of one epoch the later word counts": {map[string]answer{"s1": {epoch: 1, addr: "new", at: now}, "s2": {epoch: 1, addr: "old", at: now.Add(-1)}}, "new"},
		"who led the failover has died": {map[string]answer{"s1": {epoch: 2, addr: "new", at: now, err: away, since: now.Add(-forgetAfter)},
			"s2": {epoch: 1, addr: "old", at: now}}, "new"},
		"sentinels were set up anew, with epochs from the start": {map[string]answer{"s1": {epoch: 9, addr: "old", at: now, err: away, since: now.Add(-forgetAfter - 1)},
			"s2": {epoch: 0, addr: "new", at: now}}, "new"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.newest, newest(test.answers, now)) })
	}
}

// A connection that was begun before the master moved would go to the old one.
func TestConnectionThatTheMasterMovedAwayFromIsNone(t *testing.T) {
	m := newMaster(Config{Master: "m", Addrs: []string{"s"}})
	m.hear("s", 1, "old:1", nil)
	m.hear("s", 2, "new:1", nil)
	require.False(t, m.hold(&conn{master: m}, "old:1"))
	require.True(t, m.hold(&conn{master: m}, "new:1"))
}

func TestAReplicaIsRefusedThoughItIsNamed(t *testing.T) {
	s := redistest.StartSentinel(t)
	m := newMaster(Config{Master: "m", Addrs: []string{"s"}})
	m.hear("s", 1, s.Replica().Addr(), nil)
	c := redis.NewClient(&redis.Options{Dialer: m.dial, OnConnect: isMaster, MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = c.Close() })
	require.ErrorIs(t, c.Get(context.Background(), "k").Err(), errReplica)
}
