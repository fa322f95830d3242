package server

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

const fewestSentinels = 3

// sentinels asks each of them, and reports whether one names the master.
func (d *doctor) sentinels(ctx context.Context) bool {
	const about = "sentinel"
	many := d.cfg.Redis.many
	named := false
	for _, addr := range many.Addrs {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr, Username: many.SentinelUsername, Password: many.SentinelPassword,
			TLSConfig: many.TLSConfig, DialTimeout: dialTimeout, ReadTimeout: callTimeout, ContextTimeoutEnabled: true, MaxRetries: -1})
		within, cancel := context.WithTimeout(ctx, doctorWithin)
		named = d.sentinel(within, c, addr) || named
		cancel()
		_ = c.Close()
	}
	if len(many.Addrs) < fewestSentinels {
		d.doubtful(about, "Name them all in WAITROOM_REDIS_URL, and have three at least.", "Only %d are named: a replica that starts while they are away finds no master.", len(many.Addrs))
	}
	if !d.any(about) {
		d.fine(about, "All %d know %s and would agree on a failover.", len(many.Addrs), many.MasterName)
	}
	return named
}

func (d *doctor) sentinel(ctx context.Context, c *redis.SentinelClient, addr string) bool {
	const about = "sentinel"
	if _, err := c.GetMasterAddrByName(ctx, d.cfg.Redis.many.MasterName).Result(); err != nil {
		if errors.Is(err, redis.Nil) {
			d.wrong(about, "Correct the name at the end of WAITROOM_REDIS_URL, or sentinel.conf.", "%s knows no master %q.", addr, d.cfg.Redis.many.MasterName)
		} else {
			d.wrong(about, cmp.Or(d.cfg.Redis.certificateAdvice(err), "Is it up, and may this host reach it? Does it ask for a password (sentinel_password=…)?"), "%s does not answer: %v.", addr, err)
		}
		return false
	}
	if err := c.CkQuorum(ctx, d.cfg.Redis.many.MasterName).Err(); err != nil && strings.Contains(err.Error(), "NOQUORUM") {
		d.wrong(about, "Bring the other sentinels back, or lower the quorum in sentinel.conf.", "%s: when the master dies nobody takes over: %v.", addr, err)
	}
	return true
}
