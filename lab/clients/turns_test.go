package clients

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/client"
)

var turns = flag.Int("robots.turns", 300, "how many turns robots take while replicas are killed")

// crowd is a number of robots that take turns in rooms, each with a code of its own.
type crowd struct {
	*site
	next    atomic.Int64
	mu      sync.Mutex
	entered map[string]int // code → how often a robot entered it
}

// turn joins, waits, asks, checks that the code is its own, and is done.
func (c *crowd) turn(ctx context.Context, room string) error {
	n := c.next.Add(1)
	cl, err := client.New(c.proxy.URL, client.Config{})
	if err != nil {
		return err
	}
	t, err := cl.Join(ctx, room, fmt.Sprint("s-", n))
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	if err := t.Wait(ctx); err != nil {
		return fmt.Errorf("wait: %w", err)
	}
	own := fmt.Sprintf("%06d", 100_000+n)
	got, err := t.Code(ctx, client.From(from),
		client.Ask(func(ctx context.Context) error { return c.deliver(ctx, room, own) }))
	if err != nil {
		return fmt.Errorf("code: %w", err)
	}
	if got.Code != own {
		return fmt.Errorf("a foreign code: %s, its own is %s", got.Code, own)
	}
	c.mu.Lock()
	c.entered[own]++
	c.mu.Unlock()
	return t.Done(ctx)
}

// deliver sends the code's message until a replica has accepted it, as carriers do.
func (c *crowd) deliver(ctx context.Context, room, code string) error {
	now := time.Now()
	for {
		if err := c.sendOnce(ctx, room, "m-"+code, "인증번호 "+code, now); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *crowd) sendOnce(ctx context.Context, room, id, text string, at time.Time) error {
	r, err := message(ctx, c.proxy.URL, room, id, from, text, at)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode >= 300 || !strings.Contains(string(answer), `"result":`)) {
		err = errors.New(resp.Status)
	}
	return err
}

// Robots take turns through three replicas, of which one is killed about every second. No turn is lost, no
// code is another robot's, and each is entered once.
func TestNoTurnIsLostWhileReplicasAreKilled(t *testing.T) {
	const rooms, robots = 40, 160
	c := &crowd{site: newSite(t, 3, "WAITROOM_SMS_QUARANTINE=1s", "WAITROOM_LEASE=1m"),
		entered: map[string]int{}}
	ctx, stop := context.WithCancel(t.Context())
	killed := background(func() error { return c.kill(ctx) })
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(robots)
	for n := range *turns {
		group.Go(func() error { return c.turn(groupCtx, fmt.Sprint("room:", n%rooms)) })
	}
	err := group.Wait()
	stop()
	require.NoError(t, err)
	require.NoError(t, killed())
	require.Len(t, c.entered, *turns)
	for code, times := range c.entered {
		require.Equal(t, 1, times, code)
	}
	t.Logf("%d turns, %d kills", *turns, c.kills.Load())
}

// kill kills a replica and starts it again, until ctx ends.
func (c *crowd) kill(ctx context.Context) error {
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second + rand.N(time.Second)):
		}
		replica := c.replicas[n%len(c.replicas)]
		replica.Kill()
		c.kills.Add(1)
		if err := c.stack.Serve(context.WithoutCancel(ctx), replica); err != nil {
			return err
		}
	}
}
