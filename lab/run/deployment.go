package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/haproxytest"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	lease       = 10 * time.Second // short, so that leases are seen to expire
	supportName = "load"
	setup       = "scripts/setup.sh load"
)

// deployment is what a run starts: Redis, PostgreSQL, replicas, and haproxy in front of them.
type deployment struct {
	*stack.Stack
	program  string
	url      string   // of the balancer
	env      []string // for k6
	config   []string // of the replicas
	replicas []*stack.Replica
}

// start returns when the balancer sends requests to every replica. The caller calls stop, also after an
// error.
func (d *deployment) start(ctx context.Context, c config) (err error) {
	balancer, err := stack.Find("haproxy", setup)
	if err != nil {
		return err
	}
	if d.Stack, err = stack.New("waitroom-load-"); err != nil {
		return err
	}
	log.Printf("building waitroom %s", c.broken)
	if d.program, err = build(ctx, c.root, d.Dir, c.broken); err != nil {
		return err
	}
	log.Printf("starting redis, postgresql, %d replicas and haproxy", c.replicas)
	if err := d.configure(ctx); err != nil {
		return err
	}
	for i := range c.replicas {
		r, err := d.Replica(ctx, fmt.Sprint("replica ", i+1), d.program, d.config)
		if err != nil {
			return err
		}
		d.replicas = append(d.replicas, r)
	}
	return d.balance(ctx, c.root, balancer)
}

// stop ends everything that was started.
func (d *deployment) stop() {
	if d.Stack != nil {
		d.Stop()
	}
}

// configure starts what the replicas share, and sets their settings.
func (d *deployment) configure(ctx context.Context) error {
	_, redis, err := d.Redis(ctx)
	if err != nil {
		return err
	}
	database, stop, err := pgtest.Serve()
	if err != nil {
		return err
	}
	d.Undo(stop)
	secret, password := stack.Random("whsec_", 32), stack.Random("", 18)
	hash := exec.CommandContext(ctx, d.program, "hash-password")
	hash.Stdin = strings.NewReader(password + "\n")
	hashed, err := hash.Output()
	if err != nil {
		return fmt.Errorf("waitroom hash-password: %w", err)
	}
	d.env = []string{"SMS_SECRET=" + secret, "SUPPORT_USER=" + supportName, "SUPPORT_PASSWORD=" + password}
	d.config = []string{
		"WAITROOM_REDIS_URL=redis://" + redis, "WAITROOM_DATABASE_URL=" + database,
		"WAITROOM_ROOMS=integration,load:*", "WAITROOM_LEASE=" + lease.String(),
		"WAITROOM_SMS_WEBHOOK_SECRET=" + secret,
		"WAITROOM_SUPPORT_USERS=" + supportName + ":" + strings.TrimSpace(string(hashed)),
		"WAITROOM_TRUSTED_PROXIES=127.0.0.1", "WAITROOM_LOG_LEVEL=warn",
		// All sellers have one address here. An older replica warns about a setting that it does not know.
		"WAITROOM_RATE_LIMIT=0", "WAITROOM_PLACES_PER_IP=0", "WAITROOM_SOCKETS_PER_IP=0", "WAITROOM_ROOM_LIMIT=0",
	}
	return nil
}

// balance starts haproxy with the documented configuration: it sends any client to any ready replica in turn.
func (d *deployment) balance(ctx context.Context, root, program string) error {
	addr, err := stack.Address()
	if err != nil {
		return err
	}
	var addrs []string
	for _, r := range d.replicas {
		addrs = append(addrs, r.Addr)
	}
	config, err := haproxytest.Config(root, addr, addrs)
	if err != nil {
		return err
	}
	path := filepath.Join(d.Dir, "haproxy.cfg")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return err
	}
	c, err := d.Launch("haproxy", exec.Command(program, "-db", "-f", path))
	if err != nil {
		return err
	}
	d.url = "http://" + addr
	if err := c.Until(ctx, func() error { return stack.Ready(d.url) }); err != nil {
		return err
	}
	return d.outwaitDoubt(ctx)
}

// outwaitDoubt waits until the store's recovery window is over. A new store may be one that lost everything,
// so for a moment it answers no call.
func (d *deployment) outwaitDoubt(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second):
		return nil
	}
}
