package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrEvicts is the error of Eviction.Ask.
var ErrEvicts = errors.New("store throws away data when its memory is full")

const policyKnownFor = 5 * time.Second

// Eviction knows whether the store, with Cluster any master, may throw away keys to free memory. It is safe
// for concurrent use.
type Eviction struct {
	rdb redis.UniversalClient

	mu   sync.Mutex
	at   time.Time
	last error
}

// NewEviction returns an Eviction.
func NewEviction(rdb redis.UniversalClient) *Eviction { return &Eviction{rdb: rdb} }

// Ask returns an error that wraps ErrEvicts and names the policy. It reads the policy at most every five
// seconds. While the store does not answer, which another check reports, the last result stays.
func (e *Eviction) Ask(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.at) < policyKnownFor {
		return e.last
	}
	e.at = time.Now()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
	defer cancel()
	policies, err := e.policies(within)
	if err != nil {
		return e.last
	}
	e.last = nil
	for _, policy := range policies {
		if policy != "" && policy != "noeviction" {
			e.last = fmt.Errorf("%w: its maxmemory-policy is %s", ErrEvicts, policy)
		}
	}
	return e.last
}

// policies returns the policy of each master.
func (e *Eviction) policies(ctx context.Context) (all []string, err error) {
	cluster, ok := e.rdb.(*redis.ClusterClient)
	if !ok {
		policy, err := policyOf(ctx, e.rdb)
		return []string{policy}, err
	}
	var one sync.Mutex // masters are asked at once
	err = cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		policy, err := policyOf(ctx, c)
		one.Lock()
		defer one.Unlock()
		all = append(all, policy)
		return err
	})
	return all, err
}

// policyOf reads the policy from INFO, since managed servers refuse CONFIG; "" = the server does not say.
func policyOf(ctx context.Context, c redis.Cmdable) (string, error) {
	text, err := c.Info(ctx, "memory").Result()
	for line := range strings.Lines(text) {
		if policy, ok := strings.CutPrefix(strings.TrimSpace(line), "maxmemory_policy:"); ok {
			return policy, err
		}
	}
	return "", err
}
