package redistest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/internal/testproc"
)

const (
	clusterMasters = 3
	slots          = 16384
)

// Cluster is a Redis Cluster of three masters, without replicas or with one each.
type Cluster struct {
	tb       testing.TB
	nodes    []*Server
	replicas []*Server // in the order of their masters; nil where there are none
}

// StartCluster runs three masters until the test ends; it returns when each of them says that the cluster is ok.
func StartCluster(tb testing.TB) *Cluster {
	tb.Helper()
	return StartClusterWith(tb, Config{})
}

// StartClusterWith is StartCluster with more arguments for every node.
func StartClusterWith(tb testing.TB, config Config) *Cluster {
	tb.Helper()
	c := &Cluster{tb: tb}
	for i := range clusterMasters {
		c.nodes = append(c.nodes, startNode(tb, config))
		c.form(i)
	}
	testproc.Until(tb, agreeWithin, c.ok)
	return c
}

// StartClusterWithReplicas runs three masters and a replica of each until the test ends. A replica takes its dead master's place
// about a second later.
func StartClusterWithReplicas(tb testing.TB) *Cluster {
	tb.Helper()
	config := Config{Args: []string{"--cluster-node-timeout", "500", "--repl-ping-replica-period", "1", "--repl-diskless-sync-delay", "0"}}
	c := StartClusterWith(tb, config)
	for range c.nodes {
		c.replicas = append(c.replicas, startNode(tb, config))
		c.meet(c.replicas[len(c.replicas)-1])
	}
	for i := range c.replicas {
		c.follow(i)
	}
	return c
}

func startNode(tb testing.TB, config Config) *Server {
	tb.Helper()
	args := append([]string{
		"--cluster-enabled", "yes",
		"--cluster-port", strconv.Itoa(testproc.FreePort(tb)),
		"--cluster-node-timeout", "2000",
	}, config.Args...)
	return StartWith(tb, Config{Args: args})
}

// Addrs are the masters' addresses.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.nodes))
	for i, node := range c.nodes {
		addrs[i] = node.Addr()
	}
	return addrs
}

// URL is what REDIS_URL would be.
func (c *Cluster) URL() string { return "redis+cluster://" + strings.Join(c.Addrs(), ",") }

// Nodes are the masters, each with a third of the slots.
func (c *Cluster) Nodes() []*Server { return c.nodes }

// Client returns a cluster client; the end of the test closes it.
func (c *Cluster) Client() *redis.ClusterClient {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	c.tb.Cleanup(func() { _ = client.Close() })
	return client
}

// form gives node i its share of the slots, an epoch of its own, and an introduction to the first node.
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
	if err := node.Client().Do(context.Background(), "CLUSTER", "MEET", "127.0.0.1", first.port, first.busPort()).Err(); err != nil {
		c.tb.Fatalf("redistest: %v", err)
	}
}

// follow makes replica i one of master i, and returns when every master knows and the data is there.
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

// MasterOf is the master that has a key, and its replica.
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

// UntilPromoted returns when a replica has taken its master's place.
func (s *Server) UntilPromoted() {
	s.tb.Helper()
	testproc.Until(s.tb, agreeWithin, s.isMaster)
}

func (c *Cluster) ok() error {
	for _, node := range c.nodes {
		info, err := node.Client().ClusterInfo(context.Background()).Result()
		if err != nil {
			return err
		}
		known := fmt.Sprintf("cluster_known_nodes:%d\r\n", clusterMasters)
		if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, known) {
			return fmt.Errorf("%s: %s", node.Addr(), info)
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
