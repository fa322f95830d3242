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

// Cluster is a Redis Cluster of three masters without replicas.
type Cluster struct {
	tb    testing.TB
	nodes []*Server
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
	for range clusterMasters {
		args := append([]string{
			"--cluster-enabled", "yes",
			"--cluster-port", strconv.Itoa(testproc.FreePort(tb)),
			"--cluster-node-timeout", "2000",
		}, config.Args...)
		c.nodes = append(c.nodes, StartWith(tb, Config{Args: args}))
	}
	for i := range c.nodes {
		c.form(i)
	}
	testproc.Until(tb, agreeWithin, c.ok)
	return c
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
	node, first, ctx := c.nodes[i].Client(), c.nodes[0], context.Background()
	from, to := i*slots/clusterMasters, (i+1)*slots/clusterMasters-1
	commands := [][]any{
		{"CLUSTER", "ADDSLOTSRANGE", from, to},
		{"CLUSTER", "SET-CONFIG-EPOCH", i + 1},
		{"CLUSTER", "MEET", "127.0.0.1", first.port, first.busPort()},
	}
	for _, command := range commands {
		if err := node.Do(ctx, command...).Err(); err != nil {
			c.tb.Fatalf("redistest: %v: %v", command, err)
		}
	}
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
