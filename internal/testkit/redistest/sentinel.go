package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const (
	// MasterName is the master's name for the sentinels.
	MasterName = "waitroom-test"

	sentinels      = 3
	quorum         = 2
	agreeWithin    = time.Minute
	downAfter      = 500 * time.Millisecond
	failoverWithin = 3 * time.Second
)

// SentinelConfig lists the differences from a master with one replica, and servers without persistence.
type SentinelConfig struct {
	Replicas int      // 0 = 1
	Args     []string // more arguments of every server
	// Users makes replicas and sentinels sign in as users of their own. A test can then shut either out of
	// the master (StopReplication, StopObserving) while other clients still reach it.
	Users bool
	// ReplicasClock is the wall clock of the servers that begin as replicas; nil = the machine's.
	ReplicasClock *Clock
}

// Users of Redis that replication and the sentinels sign in as, each its own password.
const (
	replicationUser = "replication"
	observerUser    = "observer"
)

// Sentinel is a master, its replicas and three sentinels that watch them.
type Sentinel struct {
	tb        testing.TB
	users     bool
	nodes     []*Server
	addrs     []string
	observers []*redis.SentinelClient
	processes []*testproc.Process // of the sentinels
}

// StartSentinel runs the five processes until the test ends; it returns when all sentinels know the replica
// and each other.
func StartSentinel(tb testing.TB) *Sentinel {
	tb.Helper()
	return StartSentinelWith(tb, SentinelConfig{})
}

// StartSentinelWith is StartSentinel with more replicas, and with more arguments for every server.
func StartSentinelWith(tb testing.TB, c SentinelConfig) *Sentinel {
	tb.Helper()
	args := append(slices.Clip(c.Args), "--repl-diskless-sync-delay", "0")
	if c.Users {
		args = append(args, "--masteruser", replicationUser, "--masterauth", replicationUser)
		for _, user := range []string{replicationUser, observerUser} {
			args = append(args, "--user", user, "on", ">"+user, "~*", "&*", "+@all")
		}
	}
	master := StartWith(tb, Config{Args: args})
	s := &Sentinel{tb: tb, users: c.Users, nodes: []*Server{master}}
	for range max(c.Replicas, 1) {
		replica := StartWith(tb,
			Config{Clock: c.ReplicasClock, Args: append(slices.Clip(args), "--replicaof", "127.0.0.1 "+
				strconv.Itoa(master.port))})
		s.nodes = append(s.nodes, replica)
	}
	for _, replica := range s.nodes[1:] {
		testproc.Until(tb, agreeWithin, replica.linkedToMaster)
	}
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

// URL returns the REDIS_URL.
func (s *Sentinel) URL() string {
	return "redis+sentinel://" + strings.Join(s.addrs, ",") + "/" + MasterName + "?db=0"
}

// Addrs returns the sentinels' addresses.
func (s *Sentinel) Addrs() []string { return s.addrs }

// Client returns a client that follows the master; the end of the test closes it.
func (s *Sentinel) Client() *redis.Client {
	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: MasterName, SentinelAddrs: s.addrs})
	s.tb.Cleanup(func() { _ = client.Close() })
	return client
}

// Master returns the server that the sentinels agree on, as soon as they do.
func (s *Sentinel) Master() *Server {
	s.tb.Helper()
	var addr string
	testproc.Until(s.tb, agreeWithin, func() (err error) {
		addr, err = s.agreed()
		return err
	})
	return s.node(addr)
}

// Agreed returns the server that the sentinels agree on now; nil if they do not.
func (s *Sentinel) Agreed() *Server {
	addr, err := s.agreed()
	if err != nil {
		return nil
	}
	return s.node(addr)
}

// Replica returns a server that is not the master.
func (s *Sentinel) Replica() *Server {
	s.tb.Helper()
	return s.Replicas()[0]
}

// Replicas returns the servers that are not the master.
func (s *Sentinel) Replicas() []*Server {
	s.tb.Helper()
	master := s.Master()
	return slices.DeleteFunc(slices.Clone(s.nodes), func(node *Server) bool { return node == master })
}

// Nodes returns the servers, without the sentinels.
func (s *Sentinel) Nodes() []*Server { return s.nodes }

// StopReplication shuts the replicas out of a master until Reunite: the master continues alone. It needs
// Users.
func (s *Sentinel) StopReplication(master *Server) {
	s.tb.Helper()
	s.shut(master, replicationUser)
}

// StopObserving shuts the sentinels out of a server until Reunite, so that they count it as dead. It needs
// Users.
func (s *Sentinel) StopObserving(node *Server) {
	s.tb.Helper()
	s.strangers(node, "-")
	s.shut(node, observerUser)
}

// strangers allows ("+") or forbids ("-") the sentinels' commands to clients that do not sign in. Replicas
// and sentinels continue as such clients after their users are shut out.
func (s *Sentinel) strangers(node *Server, may string) {
	s.tb.Helper()
	if err := node.Client().ACLSetUser(context.Background(), "default", may+"ping", may+"info", may+"slaveof",
		may+"replicaof").Err(); err != nil {
		s.tb.Fatalf("redistest: %v", err)
	}
}

// Reunite ends StopReplication and StopObserving.
func (s *Sentinel) Reunite(node *Server) {
	s.tb.Helper()
	s.strangers(node, "+")
	for _, user := range []string{replicationUser, observerUser} {
		if err := node.Client().ACLSetUser(context.Background(), user, "on").Err(); err != nil {
			s.tb.Fatalf("redistest: %v", err)
		}
	}
}

func (s *Sentinel) shut(node *Server, user string) {
	s.tb.Helper()
	ctx := context.Background()
	err := node.Client().ACLSetUser(ctx, user, "off").Err()
	if err == nil {
		err = node.Client().ClientKillByFilter(ctx, "USER", user).Err()
	}
	if err != nil {
		s.tb.Fatalf("redistest: shut %s out: %v", user, err)
	}
}

// Follow makes a server a replica of the master.
func (s *Sentinel) Follow(node *Server) {
	s.tb.Helper()
	if err := node.Client().ReplicaOf(context.Background(), "127.0.0.1",
		strconv.Itoa(s.Master().port)).Err(); err != nil {
		s.tb.Fatalf("redistest: %v", err)
	}
}

// AwaitFailover returns when all sentinels agree on another master than the old one, and it takes writes.
func (s *Sentinel) AwaitFailover(old *Server) {
	s.tb.Helper()
	s.untilOtherThan(old)
}

// Failover makes the replica the master in an orderly way and returns when all sentinels report so.
func (s *Sentinel) Failover() {
	s.tb.Helper()
	old := s.Master()
	testproc.Until(s.tb, agreeWithin, func() error {
		return s.observers[0].Failover(context.Background(), MasterName).Err()
	})
	s.untilOtherThan(old)
}

// FailoverBy makes one sentinel promote the replica by its own decision; the other sentinels need not be
// running.
func (s *Sentinel) FailoverBy(i int) error {
	return s.observers[i].Failover(context.Background(), MasterName).Err()
}

// PauseObserver stops a sentinel (SIGSTOP): it neither receives nor sends until the end of the test, or
// ResumeObserver.
func (s *Sentinel) PauseObserver(i int) { s.processes[i].Signal(syscall.SIGSTOP) }

// ResumeObserver ends PauseObserver.
func (s *Sentinel) ResumeObserver(i int) { s.processes[i].Signal(syscall.SIGCONT) }

// KillMaster kills the master (SIGKILL) and returns when all sentinels agree on the other one. The dead one
// can come back, as a replica, by its Restart.
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

// AwaitWhole returns when every sentinel sees every server in its place again.
func (s *Sentinel) AwaitWhole() {
	s.tb.Helper()
	testproc.Until(s.tb, agreeWithin, s.complete)
	for _, replica := range s.Replicas() {
		testproc.Until(s.tb, agreeWithin, replica.linkedToMaster)
	}
}

// startObserver runs sentinel i. It configures its id and the others' addresses, so that they need not search
// for each other for seconds.
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
	s.processes = append(s.processes, process)
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
	for _, replica := range s.nodes[1:] {
		line("sentinel known-replica %s 127.0.0.1 %d", MasterName, replica.port)
	}
	if s.users {
		line("sentinel auth-user %s %s", MasterName, observerUser)
		line("sentinel auth-pass %s %s", MasterName, observerUser)
	}
	for other, port := range ports {
		if other != i {
			line("sentinel known-sentinel %s 127.0.0.1 %d %040x", MasterName, port, other+1)
		}
	}
	return b.String()
}

// complete returns nil when every sentinel reports the whole set as healthy.
func (s *Sentinel) complete() error {
	for _, observer := range s.observers {
		m, err := observer.Master(context.Background(), MasterName).Result()
		if err != nil {
			return err
		}
		if m["flags"] != "master" || m["num-slaves"] != strconv.Itoa(len(s.nodes)-1) ||
			m["num-other-sentinels"] != strconv.Itoa(sentinels-1) {
			return fmt.Errorf("flags %s, replicas %s, other sentinels %s", m["flags"], m["num-slaves"],
				m["num-other-sentinels"])
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
	s.tb.Fatalf("redistest: %s is none of the servers", addr)
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
