package doctor

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

const fewestSentinels = 3

// sentinels asks each sentinel, and reports whether one names the master.
func (d *doctor) sentinels(ctx context.Context, by redis.UniversalOptions) bool {
	const about = "sentinel"
	named := false
	for _, addr := range by.Addrs {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr, Username: by.SentinelUsername,
			Password:  by.SentinelPassword,
			TLSConfig: by.TLSConfig, DialTimeout: by.DialTimeout, ReadTimeout: by.ReadTimeout,
			ContextTimeoutEnabled: true, MaxRetries: -1})
		within, cancel := context.WithTimeout(ctx, askWithin)
		named = d.sentinel(within, c, addr, by.MasterName) || named
		cancel()
		_ = c.Close()
	}
	if len(by.Addrs) < fewestSentinels {
		d.warn(about, "Name them all in WAITROOM_REDIS_URL, and have three at least.",
			"Only %d are named: a replica that starts while they are away finds no master.", len(by.Addrs))
	}
	if !d.any(about) {
		d.fine(about, "All %d know %s and would agree on a failover.", len(by.Addrs), by.MasterName)
	}
	return named
}

func (d *doctor) sentinel(ctx context.Context, c *redis.SentinelClient, addr, master string) bool {
	const about = "sentinel"
	if _, err := c.GetMasterAddrByName(ctx, master).Result(); err != nil {
		if errors.Is(err, redis.Nil) {
			d.wrong(about, "Correct the name at the end of WAITROOM_REDIS_URL, or sentinel.conf.",
				"%s knows no master %q.", addr, master)
		} else {
			do := cmp.Or(d.Redis.CertificateAdvice(err),
				"Is it up, and may this host reach it? Does it ask for a password (sentinel_password=…)?")
			if strings.Contains(err.Error(), "unknown command") {
				do = d.Redis.Remedy(err)
			}
			d.wrong(about, do, "%s does not answer: %v.", addr, err)
		}
		return false
	}
	if err := c.CkQuorum(ctx, master).Err(); err != nil && strings.Contains(err.Error(), "NOQUORUM") {
		d.wrong(about, "Bring the other sentinels back, or lower the quorum in sentinel.conf.",
			"%s: when the master dies, no replica takes over: %v.", addr, err)
	}
	return true
}
