package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/internal/testproc"
)

const (
	// MasterName is what the sentinels call the master.
	MasterName = "waitroom-test"

	sentinels      = 3
	quorum         = 2
	agreeWithin    = 30 * time.Second
	downAfter      = 500 * time.Millisecond
	failoverWithin = 3 * time.Second
)

// Sentinel is a master, its replica and three sentinels that watch them.
type Sentinel struct {
	tb        testing.TB
	nodes     []*Server
	addrs     []string
	observers []*redis.SentinelClient
}

// StartSentinel runs the five processes until the test ends; it returns when all sentinels know the replica and each other.
func StartSentinel(tb testing.TB) *Sentinel {
	tb.Helper()
	master := Start(tb)
	replica := StartWith(tb, Config{Args: []string{"--replicaof", "127.0.0.1 " + strconv.Itoa(master.port)}})
	s := &Sentinel{tb: tb, nodes: []*Server{master, replica}}
	testproc.Until(tb, agreeWithin, replica.linkedToMaster)
	ports := make([]int, sentinels)
	for i := range ports {
		ports[i] = testproc.FreePort(tb)
	}
	for i := range ports {
		s.startObserver(i, ports)
	}
	testproc.Until(tb, agreeWithin, s.complete)
	return s
}

// URL is what REDIS_URL would be.
func (s *Sentinel) URL() string {
	return "redis+sentinel://" + strings.Join(s.addrs, ",") + "/" + MasterName + "?db=0"
}

// Addrs are the sentinels' addresses.
func (s *Sentinel) Addrs() []string { return s.addrs }

// Client returns a client that follows the master; the end of the test closes it.
func (s *Sentinel) Client() *redis.Client {
	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: MasterName, SentinelAddrs: s.addrs})
	s.tb.Cleanup(func() { _ = client.Close() })
	return client
}

// Master is the server that the sentinels now agree on.
func (s *Sentinel) Master() *Server {
	s.tb.Helper()
	addr, err := s.agreed()
	if err != nil {
		s.tb.Fatalf("redistest: %v", err)
	}
	return s.node(addr)
}

// Replica is the server that is not the master.
func (s *Sentinel) Replica() *Server {
	s.tb.Helper()
	if s.Master() == s.nodes[0] {
		return s.nodes[1]
	}
	return s.nodes[0]
}

// Failover makes the replica the master in an orderly way and returns when all sentinels say so.
func (s *Sentinel) Failover() {
	s.tb.Helper()
	old := s.Master()
	testproc.Until(s.tb, agreeWithin, func() error {
		return s.observers[0].Failover(context.Background(), MasterName).Err()
	})
	s.untilOtherThan(old)
}

// KillMaster kills the master (SIGKILL) and returns when all sentinels agree on the other one. The dead one can come
// back, as a replica, by its Restart.
func (s *Sentinel) KillMaster() *Server {
	s.tb.Helper()
	old := s.Master()
	old.Kill()
	s.untilOtherThan(old)
	return old
}

func (s *Sentinel) untilOtherThan(old *Server) {
	s.tb.Helper()
	testproc.Until(s.tb, agreeWithin, func() error {
		addr, err := s.agreed()
		if err != nil {
			return err
		}
		if addr == old.Addr() {
			return errors.New("the master is still " + addr)
		}
		return s.node(addr).isMaster()
	})
}

// startObserver runs sentinel i. It is told its own id and the others', so that they need no seconds to find each other.
func (s *Sentinel) startObserver(i int, ports []int) {
	s.tb.Helper()
	dir := s.tb.TempDir()
	conf := filepath.Join(dir, "sentinel.conf")
	if err := os.WriteFile(conf, []byte(s.observerConfig(i, ports, dir)), 0o600); err != nil {
		s.tb.Fatalf("redistest: %v", err)
	}
	process, logPath, err := launch(testproc.Find(s.tb, "redis-sentinel"), dir, []string{conf})
	if err != nil {
		s.tb.Fatalf("redistest: %v", err)
	}
	s.tb.Cleanup(process.Kill)
	addr := "127.0.0.1:" + strconv.Itoa(ports[i])
	observer := redis.NewSentinelClient(&redis.Options{Addr: addr})
	s.tb.Cleanup(func() { _ = observer.Close() })
	testproc.Until(s.tb, startWithin, func() error {
		if err := observer.Ping(context.Background()).Err(); err != nil {
			return fmt.Errorf("sentinel %s: %w\n%s", addr, err, testproc.LogTail(logPath))
		}
		return nil
	})
	s.addrs = append(s.addrs, addr)
	s.observers = append(s.observers, observer)
}

func (s *Sentinel) observerConfig(i int, ports []int, dir string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("port %d", ports[i])
	line("bind 127.0.0.1")
	line("dir %s", dir)
	line("sentinel myid %040x", i+1)
	line("sentinel monitor %s 127.0.0.1 %d %d", MasterName, s.nodes[0].port, quorum)
	line("sentinel down-after-milliseconds %s %d", MasterName, downAfter.Milliseconds())
	line("sentinel failover-timeout %s %d", MasterName, failoverWithin.Milliseconds())
	line("sentinel known-replica %s 127.0.0.1 %d", MasterName, s.nodes[1].port)
	for other, port := range ports {
		if other != i {
			line("sentinel known-sentinel %s 127.0.0.1 %d %040x", MasterName, port, other+1)
		}
	}
	return b.String()
}

// complete says whether every sentinel sees the whole set as healthy.
func (s *Sentinel) complete() error {
	for _, observer := range s.observers {
		m, err := observer.Master(context.Background(), MasterName).Result()
		if err != nil {
			return err
		}
		if m["flags"] != "master" || m["num-slaves"] != "1" || m["num-other-sentinels"] != strconv.Itoa(sentinels-1) {
			return fmt.Errorf("flags %s, replicas %s, other sentinels %s", m["flags"], m["num-slaves"], m["num-other-sentinels"])
		}
	}
	return nil
}

// agreed returns the master's address once all sentinels name the same.
func (s *Sentinel) agreed() (string, error) {
	agreed := ""
	for _, observer := range s.observers {
		pair, err := observer.GetMasterAddrByName(context.Background(), MasterName).Result()
		if err != nil {
			return "", err
		}
		addr := net.JoinHostPort(pair[0], pair[1])
		if agreed != "" && addr != agreed {
			return "", fmt.Errorf("the sentinels name both %s and %s", agreed, addr)
		}
		agreed = addr
	}
	return agreed, nil
}

func (s *Sentinel) node(addr string) *Server {
	for _, node := range s.nodes {
		if node.Addr() == addr {
			return node
		}
	}
	s.tb.Fatalf("redistest: %s is neither of the two servers", addr)
	return nil
}

func (s *Server) linkedToMaster() error { return s.replication("master_link_status:up") }

func (s *Server) isMaster() error { return s.replication("role:master") }

func (s *Server) replication(want string) error {
	info, err := s.Client().Info(context.Background(), "replication").Result()
	if err != nil {
		return err
	}
	if !strings.Contains(info, want) {
		return fmt.Errorf("%s is not %s", s.Addr(), want)
	}
	return nil
}
