package redistest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const (
	clusterMasters = 3
	slots          = 16384
)

// Cluster is a Redis Cluster of three masters, without replicas unless AddReplicas gives them some.
type Cluster struct {
	tb       testing.TB
	config   Config
	nodes    []*Server
	replicas []*Server
}

// StartCluster runs three masters until the test ends; it returns when each of them
// reports the cluster as ok.
func StartCluster(tb testing.TB) *Cluster {
	tb.Helper()
	return StartClusterWith(tb, Config{})
}

// StartClusterWith is StartCluster with more arguments for every node.
func StartClusterWith(tb testing.TB, config Config) *Cluster {
	tb.Helper()
	c := &Cluster{tb: tb, config: config}
	for range clusterMasters {
		c.nodes = append(c.nodes, c.start())
	}
	for i := range c.nodes {
		c.form(i)
	}
	testproc.Until(tb, agreeWithin, c.ok)
	return c
}

// StartClusterWithReplicas runs three masters and a replica of each until the test ends. A replica takes its
// dead master's place about a second later.
func StartClusterWithReplicas(tb testing.TB) *Cluster {
	tb.Helper()
	c := StartClusterWith(tb,
		Config{Args: []string{"--cluster-node-timeout", "500", "--repl-ping-replica-period", "1"}})
	c.AddReplicas()
	return c
}

func (c *Cluster) start() *Server {
	c.tb.Helper()
	return StartWith(c.tb, Config{Args: append([]string{
		"--cluster-enabled", "yes",
		"--cluster-port", strconv.Itoa(testproc.FreePort(c.tb)),
		"--cluster-node-timeout", "2000",
		"--repl-diskless-sync-delay", "0",
	}, c.config.Args...)})
}

// AddReplicas gives each master a replica; it returns when they have its data.
func (c *Cluster) AddReplicas() {
	c.tb.Helper()
	for range c.nodes {
		replica := c.start()
		c.meet(replica)
		c.replicas = append(c.replicas, replica)
	}
	for i := range c.replicas {
		c.follow(i)
	}
	testproc.Until(c.tb, agreeWithin, c.ok)
}

// Replicas returns the servers that AddReplicas added. After a failover one of them may be a master.
func (c *Cluster) Replicas() []*Server { return c.replicas }

// Owner returns the master that has a key's slot now: the first that answers for the key.
func (c *Cluster) Owner(key string) (*Server, error) {
	ctx := context.Background()
	errs := []error{fmt.Errorf("no node has %s", key)}
	for _, node := range append(slices.Clone(c.nodes), c.replicas...) {
		if err := node.isMaster(); err != nil {
			errs = append(errs, err)
			continue
		}
		if err := node.Client().Exists(ctx, key).Err(); err != nil { // MOVED: another one's
			errs = append(errs, err)
			continue
		}
		return node, nil
	}
	return nil, errors.Join(errs...)
}

// Move moves a key's slot, with all its keys, to the next master, and returns how many keys that were.
func (c *Cluster) Move(key string) (keys int, err error) {
	from, err := c.Owner(key)
	if err != nil {
		return 0, err
	}
	to, slot, id, err := c.beginMove(from, key)
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	if keys, err = from.migrate(ctx, slot, to); err != nil {
		return keys, err
	}
	for _, node := range []*Server{to, from} {
		if err := node.Client().Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", id).Err(); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// BeginMove begins to move a key's slot to the next master, and leaves its keys where they are. It returns
// that master and the slot.
func (c *Cluster) BeginMove(tb testing.TB, key string) (to *Server, slot int64) {
	tb.Helper()
	from, err := c.Owner(key)
	require.NoError(tb, err)
	to, slot, _, err = c.beginMove(from, key)
	require.NoError(tb, err)
	return to, slot
}

// beginMove returns the next master, its id in the cluster, and the slot.
func (c *Cluster) beginMove(from *Server, key string) (to *Server, slot int64, id string, err error) {
	to = c.nodes[(slices.Index(c.nodes, from)+1)%len(c.nodes)]
	ctx := context.Background()
	if slot, err = from.Client().ClusterKeySlot(ctx, key).Result(); err != nil {
		return nil, 0, "", err
	}
	ids := [2]string{}
	for i, node := range []*Server{from, to} {
		if ids[i], err = node.Client().Do(ctx, "CLUSTER", "MYID").Text(); err != nil {
			return nil, 0, "", err
		}
	}
	return to, slot, ids[1], errors.Join(
		to.Client().Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0]).Err(),
		from.Client().Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1]).Err())
}

// migrate sends all keys of a slot, a few at a time.
func (s *Server) migrate(ctx context.Context, slot int64, to *Server) (moved int, err error) {
	for {
		keys, err := s.Client().ClusterGetKeysInSlot(ctx, int(slot), 10).Result()
		if err != nil || len(keys) == 0 {
			return moved, err
		}
		args := []any{"MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS"}
		for _, key := range keys {
			args = append(args, key)
		}
		if err := s.Client().Do(ctx, args...).Err(); err != nil {
			return moved, err
		}
		moved += len(keys)
	}
}

// Addrs returns the masters' addresses.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.nodes))
	for i, node := range c.nodes {
		addrs[i] = node.Addr()
	}
	return addrs
}

// URL returns the REDIS_URL.
func (c *Cluster) URL() string { return "redis+cluster://" + strings.Join(c.Addrs(), ",") }

// Nodes returns the masters, each with a third of the slots.
func (c *Cluster) Nodes() []*Server { return c.nodes }

// Client returns a cluster client; the end of the test closes it.
func (c *Cluster) Client() *redis.ClusterClient {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	c.tb.Cleanup(func() { _ = client.Close() })
	return client
}

// form gives node i its slots and an epoch of its own, and introduces it to the first node.
func (c *Cluster) form(i int) {
	c.tb.Helper()
	node, ctx := c.nodes[i].Client(), context.Background()
	from, to := i*slots/clusterMasters, (i+1)*slots/clusterMasters-1
	commands := [][]any{
		{"CLUSTER", "ADDSLOTSRANGE", from, to},
		{"CLUSTER", "SET-CONFIG-EPOCH", i + 1},
	}
	for _, command := range commands {
		if err := node.Do(ctx, command...).Err(); err != nil {
			c.tb.Fatalf("redistest: %v: %v", command, err)
		}
	}
	c.meet(c.nodes[i])
}

// meet introduces a node to the first.
func (c *Cluster) meet(node *Server) {
	c.tb.Helper()
	first := c.nodes[0]
	if err := node.Client().Do(context.Background(), "CLUSTER", "MEET", "127.0.0.1", first.port,
		first.busPort()).Err(); err != nil {
		c.tb.Fatalf("redistest: %v", err)
	}
}

// follow makes replica i a replica of master i. It returns when every master knows it and it has the data.
func (c *Cluster) follow(i int) {
	c.tb.Helper()
	ctx := context.Background()
	master, err := c.nodes[i].Client().ClusterMyID(ctx).Result()
	if err != nil {
		c.tb.Fatalf("redistest: %v", err)
	}
	testproc.Until(c.tb, agreeWithin, func() error { // it does not know the master at once
		return c.replicas[i].Client().ClusterReplicate(ctx, master).Err()
	})
	testproc.Until(c.tb, agreeWithin, c.replicas[i].linkedToMaster)
	testproc.Until(c.tb, agreeWithin, func() error {
		for _, node := range c.nodes {
			replicas, err := node.Client().Do(ctx, "CLUSTER", "REPLICAS", master).Slice()
			if err != nil || len(replicas) != 1 {
				return fmt.Errorf("%s knows %d replicas of master %d: %w", node.Addr(), len(replicas), i, err)
			}
		}
		return nil
	})
}

// MasterOf returns the master that had a key's slot at the start, and its replica; nil without replicas.
func (c *Cluster) MasterOf(key string) (master, replica *Server) {
	c.tb.Helper()
	slot, err := c.nodes[0].Client().ClusterKeySlot(context.Background(), key).Result()
	if err != nil {
		c.tb.Fatalf("redistest: %v", err)
	}
	i := 0
	for int(slot) > (i+1)*slots/clusterMasters-1 {
		i++
	}
	if c.replicas == nil {
		return c.nodes[i], nil
	}
	return c.nodes[i], c.replicas[i]
}

// UntilPromoted returns when a replica has replaced its master.
func (s *Server) UntilPromoted() {
	s.tb.Helper()
	testproc.Until(s.tb, agreeWithin, s.isMaster)
}

// ok returns nil once every node knows all others and the owner of each slot.
//
// If a cluster may leave slots uncovered, cluster_state alone is ok earlier: a client that asks for the slots
// then sends some keys to a random node.
func (c *Cluster) ok() error {
	for _, node := range c.nodes {
		info, err := node.Client().ClusterInfo(context.Background()).Result()
		if err != nil {
			return err
		}
		for _, line := range []string{
			"cluster_state:ok",
			fmt.Sprintf("cluster_known_nodes:%d", len(c.nodes)+len(c.replicas)),
			fmt.Sprintf("cluster_slots_ok:%d", slots),
		} {
			if !strings.Contains(info, line+"\r\n") {
				return fmt.Errorf("%s: %s", node.Addr(), info)
			}
		}
	}
	return nil
}

func (s *Server) busPort() string {
	for i, arg := range s.args {
		if arg == "--cluster-port" {
			return s.args[i+1]
		}
	}
	return strconv.Itoa(s.port + 10_000)
}
