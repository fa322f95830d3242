package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	supportName = "day"
	callTimeout = 10 * time.Second
)

// day is a deployment of two replicas and a Redis with a clock of its own, and its users.
type day struct {
	*stack.Stack
	config
	redis    *stack.Child
	rdb      *redis.Client
	clock    *redistest.Clock
	ahead    time.Duration // by which Redis's clock is ahead of the machine's
	began    time.Time
	replicas []*stack.Replica
	client   *http.Client
	signer   *webhooks.Webhook // the carrier's
	support  *http.Client      // signed in
	password string
	rooms    []*room
	count    counts
	people   people
	atStart  sample // before anybody came
}

// open returns when both replicas are ready. The caller calls Close, also after an error.
func open(ctx context.Context, c config) (d *day, err error) {
	d = &day{config: c, client: &http.Client{Timeout: callTimeout,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	if d.Stack, err = stack.New("waitroom-day-"); err != nil {
		return d, err
	}
	log.Printf("building waitroom %s", c.broken)
	program, err := d.build(ctx)
	if err != nil {
		return d, err
	}
	settings, err := d.configure(ctx, program)
	if err != nil {
		return d, err
	}
	for i := range 2 {
		r, err := d.Replica(ctx, fmt.Sprint("replica ", i+1), program, settings)
		if err != nil {
			return d, err
		}
		d.replicas = append(d.replicas, r)
	}
	d.atStart, err = d.sample(ctx)
	return d, err
}

func (d *day) close() {
	d.client.CloseIdleConnections()
	if d.rdb != nil {
		_ = d.rdb.Close()
	}
	if d.Stack != nil {
		d.Stop()
	}
}

// configure starts Redis and returns the replicas' settings. Redis searches for expired keys as often as it
// can, since its clock runs fast.
func (d *day) configure(ctx context.Context, program string) ([]string, error) {
	var err error
	if d.clock, err = redistest.MakeClock(d.Dir); err != nil {
		return nil, err
	}
	d.began = time.Now()
	child, addr, err := d.RedisWith(ctx, d.clock.Env(), "--active-expire-effort", "10", "--hz", "100")
	if err != nil {
		return nil, err
	}
	d.redis, d.rdb = child, redis.NewClient(&redis.Options{Addr: addr})
	secret := stack.Random("whsec_", 32)
	if d.signer, err = webhooks.NewWebhook(secret); err != nil {
		return nil, err
	}
	d.password = stack.Random("", 18)
	hash := exec.CommandContext(ctx, program, "hash-password")
	hash.Stdin = strings.NewReader(d.password + "\n")
	hashed, err := hash.Output()
	if err != nil {
		return nil, fmt.Errorf("waitroom hash-password: %w", err)
	}
	return []string{
		"WAITROOM_REDIS_URL=redis://" + addr, "WAITROOM_DATABASE_URL=sqlite:" + filepath.Join(d.Dir, "ledger.db"),
		"WAITROOM_ROOMS=day:*", "WAITROOM_SMS_WEBHOOK_SECRET=" + secret,
		"WAITROOM_SUPPORT_USERS=" + supportName + ":" + strings.TrimSpace(string(hashed)),
		"WAITROOM_SMS_QUARANTINE=0s", // else no seller may ask for a code right after the clock was set
		"WAITROOM_TRUSTED_PROXIES=127.0.0.1", "WAITROOM_LOG_LEVEL=warn",
	}, nil
}

// now returns Redis's time.
func (d *day) now() time.Time { return time.Now().Add(d.ahead) }

// until sets Redis's clock to a time since the beginning.
func (d *day) until(since time.Duration) error {
	d.ahead = max(d.ahead, since-time.Since(d.began))
	return d.clock.Put(d.ahead)
}
