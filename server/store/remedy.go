package store

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Remedy returns what to do if the store does not answer, as a sentence.
func (u URL) Remedy(err error) string {
	text := strings.ToLower(err.Error())
	has := func(any ...string) bool {
		for _, part := range any {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("cluster support disabled", "unknown command 'cluster'", "unknown command `cluster`"):
		return "It is no Redis Cluster: redis://host:port, or by its sentinels " +
			"redis+sentinel://h1:p,h2:p/master-name."
	case has("unknown command 'sentinel'", "unknown command `sentinel`"):
		return "These addresses are no sentinels (mostly port 26379): name them, or redis://host:port without."
	case has("wrongpass", "invalid password"):
		return "Correct the user or the password in WAITROOM_REDIS_URL; what is no letter or digit in it " +
			"has to be percent-encoded."
	case has("noauth"):
		return "It asks for a password: redis://user:password@host:port."
	case has("noperm"):
		return "Give the user the right to this command: ACL SETUSER."
	}
	if advice := u.CertificateAdvice(err); advice != "" {
		return advice
	}
	if has("tls:", "eof", "certificate", "connection reset") {
		return "Does it speak TLS? Then rediss://; and does this host trust its certificate?"
	}
	if u.usesTLS() && has("deadline exceeded", "i/o timeout") { // Redis waits for the end of a line
		return "It is silent: does it speak TLS at all? Else write redis instead of rediss."
	}
	return "Is it up, and may this host reach it? Is the address in WAITROOM_REDIS_URL right?"
}

var (
	errSentinel = errors.New("it is a sentinel, which has no data: redis+sentinel://h1:p,h2:p/master-name")
	errCluster  = errors.New("it is one node of a Redis Cluster: redis+cluster://h1:p,h2:p")
)

// Suits returns an error if the address of one Redis leads to a sentinel or to a cluster of several masters:
// these answer a PING, and refuse what comes then. A server that does not say what it is suits.
func (u URL) Suits(ctx context.Context, c redis.UniversalClient) error {
	if u.kind != "single" {
		return nil
	}
	info, _ := c.Info(ctx, "server").Result()
	switch {
	case strings.Contains(info, "redis_mode:sentinel"):
		return errSentinel
	case strings.Contains(info, "redis_mode:cluster"):
		state, err := c.ClusterInfo(ctx).Result()
		whole := strings.Contains(state, "cluster_size:1\r") && strings.Contains(state, "cluster_slots_ok:16384\r")
		if err == nil && !whole { // a managed cluster of one shard is whole
			return errCluster
		}
	}
	return nil
}
