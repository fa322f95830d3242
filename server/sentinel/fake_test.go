package sentinel

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

var (
	errNotAsked   = errors.New("it was not asked yet")
	errStillThere = errors.New("it is still asked")
)

// fake is a sentinel with prepared answers.
type fake struct {
	*server.Server
	mu     sync.Mutex
	addr   string   // of the master
	epoch  string   // "" = not in the answer
	denied []string // commands without permission
	others []string // sentinels
	asked  int
}

func newFake(t *testing.T, addr, epoch string) *fake {
	t.Helper()
	s, err := server.NewServer("127.0.0.1:0")
	require.NoError(t, err)
	f := &fake{Server: s, addr: addr, epoch: epoch}
	require.NoError(t, s.Register("SENTINEL",
		func(c *server.Peer, _ string, args []string) { f.answer(c, args) }))
	t.Cleanup(s.Close)
	return f
}

func (f *fake) at() string { return f.Addr().String() }

func (f *fake) answer(c *server.Peer, args []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	host, port, _ := net.SplitHostPort(f.addr)
	switch verb := strings.ToLower(args[0]); {
	case slices.Contains(f.denied, verb):
		c.WriteError("NOPERM this user has no permissions to run it")
	case verb == "master":
		f.asked++
		c.WriteStrings(append([]string{"ip", host, "port", port}, f.epochs()...))
	case verb == "sentinels":
		c.WriteLen(len(f.others))
		for _, other := range f.others {
			host, port, _ := net.SplitHostPort(other)
			c.WriteStrings([]string{"ip", host, "port", port})
		}
	default:
		c.WriteStrings([]string{host, port})
	}
}

func (f *fake) epochs() []string {
	if f.epoch == "" {
		return nil
	}
	return []string{"config-epoch", f.epoch}
}

func (f *fake) times() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

func (f *fake) change(change func(*fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// client returns a client of the master that some sentinels name, and what the client knows of it.
func client(t *testing.T, change func(*Config), fakes ...*fake) (*redis.Client, *master) {
	t.Helper()
	c := Config{Master: "m", Options: redis.Options{MaxRetries: -1, DialerRetries: 1}}
	for _, f := range fakes {
		c.Addrs = append(c.Addrs, f.at())
	}
	if change != nil {
		change(&c)
	}
	client, m, stop := open(c)
	t.Cleanup(stop)
	return client, m
}

// One sentinel names the master by its host, another by its address: it has not moved.
func TestConnectionsStayWhileSentinelsNameTheMasterDifferently(t *testing.T) {
	s := redistest.Start(t)
	_, port, err := net.SplitHostPort(s.Addr())
	require.NoError(t, err)
	one, two := newFake(t, s.Addr(), "0"), newFake(t, net.JoinHostPort("localhost", port), "0")
	c, _ := client(t, nil, one, two)
	conn := c.Conn()
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.Ping(t.Context()).Err())
	before := [2]int{one.times(), two.times()}
	testproc.Until(t, time.Minute, func() error {
		if one.times() < before[0]+3 || two.times() < before[1]+3 {
			return errNotAsked
		}
		return nil
	})
	require.NoError(t, conn.Ping(t.Context()).Err(), "it was not closed")
}

// Services in place of sentinels report no epoch, and the user of a sentinel may be allowed one command only.
func TestSentinelThatSaysNothingButTheMasterIsBelieved(t *testing.T) {
	s := redistest.Start(t)
	for name, change := range map[string]func(*fake){
		"no epoch":              func(f *fake) { f.epoch = "" },
		"nothing else is asked": func(f *fake) { f.denied = []string{"master", "sentinels"} },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, s.Addr(), "3")
			f.change(change)
			c, _ := client(t, nil, f)
			require.NoError(t, c.Ping(t.Context()).Err())
		})
	}
}

// In a container cluster each new sentinel has a new address, and the old addresses never come back.
func TestSentinelThatHasGoneIsNotAskedForEver(t *testing.T) {
	s := redistest.Start(t)
	f := newFake(t, s.Addr(), "1")
	gone := net.JoinHostPort("127.0.0.1", strconv.Itoa(testproc.FreePort(t)))
	f.others = []string{gone}
	_, m := client(t, nil, f)
	testproc.Until(t, time.Minute, func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if _, known := m.answers[gone]; !known {
			return errNotAsked
		}
		return nil
	})
	f.change(func(f *fake) { f.others = nil })
	testproc.Until(t, time.Minute, func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		a, known := m.answers[gone]
		if !known {
			return nil
		}
		a.since = a.since.Add(-forgetAfter)
		m.answers[gone] = a
		return errStillThere
	})
}
