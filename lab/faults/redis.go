package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// killRedis kills every master in turn; each restarts with its append-only file.
func killRedis(n int) Step {
	return Step{"Redis killed", func(ctx context.Context, r *Run) error {
		return times(ctx, n, func() time.Duration { return 1500*time.Millisecond + r.upTo(time.Second) },
			func() error {
				s := r.store.master(r.rooms[0])
				return r.fault("SIGKILL Redis", nil, func() (string, error) {
					since := r.history.Len()
					s.Kill()
					dead := 500*time.Millisecond + r.upTo(time.Second) // long enough for a client to call
					if err := pause(ctx, dead); err != nil {
						return "", err
					}
					s.Restart()
					return r.noticed(ctx, since, dead)
				})
			})
	}}
}

// stopRedis stops the master's process (SIGSTOP) and continues it.
func stopRedis(d time.Duration) Step {
	return Step{"Redis stopped for " + d.String(), func(ctx context.Context, r *Run) error {
		s := r.store.master(r.rooms[0])
		return r.fault("SIGSTOP Redis", nil, func() (string, error) {
			since := r.history.Len()
			s.Pause()
			err := pause(ctx, d)
			s.Resume()
			if err != nil {
				return "", err
			}
			return r.noticed(ctx, since, d)
		})
	}}
}

// loseReplies drops replies to scripts: they were executed, but the caller does not know.
func loseReplies(n int) Step {
	return Step{"lost replies", func(ctx context.Context, r *Run) error {
		s, ok := r.store.(*single)
		if !ok || len(s.lossy) == 0 {
			return fmt.Errorf("no replies can be lost here")
		}
		return r.fault("lost replies", nil, func() (string, error) {
			for range n {
				select {
				case <-s.lossy[r.rng.IntN(len(s.lossy))].DropNextReply(redistest.Command("FCALL", "EVALSHA")):
				case <-time.After(5 * time.Second):
					return "", fmt.Errorf("%w: no reply to lose", errUnmet)
				case <-ctx.Done():
					return "", ctx.Err()
				}
				if err := pause(ctx, r.upTo(100*time.Millisecond)); err != nil {
					return "", err
				}
			}
			return fmt.Sprintf("%d replies to scripts were lost", n), nil
		})
	}}
}

// command repeats a Redis command that returns how many items it affected.
func command(name string, n int, args ...any) Step {
	return Step{name, func(ctx context.Context, r *Run) error {
		return r.fault(name, nil, func() (string, error) {
			hit := int64(0)
			err := times(ctx, n, func() time.Duration { return r.upTo(400 * time.Millisecond) }, func() error {
				for _, s := range r.store.servers() {
					got, err := s.Client().Do(ctx, args...).Int64()
					if err != nil {
						return err
					}
					hit += got
				}
				return nil
			})
			if err == nil && hit == 0 {
				err = fmt.Errorf("%w: it hit no client", errUnmet)
			}
			return fmt.Sprintf("%d were hit", hit), err
		})
	}}
}

func cutSubscriptions(n int) Step {
	return command("subscriptions cut", n, "CLIENT", "KILL", "TYPE", "pubsub")
}

func killClients(n int) Step {
	return command("clients killed", n, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
}

// flushScripts makes Redis forget its scripts and its functions.
func flushScripts(n int) Step {
	const name = "SCRIPT FLUSH and FUNCTION FLUSH"
	return Step{name, func(ctx context.Context, r *Run) error {
		return r.fault(name, nil, func() (string, error) {
			return fmt.Sprintf("%d times", n), times(ctx, n,
				func() time.Duration { return r.upTo(400 * time.Millisecond) }, func() error {
					redis := r.store.master(r.rooms[0]).Client()
					return errors.Join(redis.ScriptFlush(ctx).Err(), redis.FunctionFlush(ctx).Err())
				})
		})
	}}
}

func pauseClients(which string, d time.Duration) Step {
	name := fmt.Sprintf("CLIENT PAUSE %s for %s", which, d)
	return Step{name, func(ctx context.Context, r *Run) error {
		return r.fault(name, nil, func() (string, error) {
			since := r.history.Len()
			err := r.store.master(r.rooms[0]).Client().Do(ctx, "CLIENT", "PAUSE", d.Milliseconds(), which).Err()
			if err == nil {
				err = pause(ctx, d)
			}
			if err != nil {
				return "", err
			}
			return r.noticed(ctx, since, d)
		})
	}}
}

// fillRedis makes Redis refuse commands that need memory.
func fillRedis(d time.Duration) Step {
	return Step{"Redis full for " + d.String(), func(ctx context.Context, r *Run) error {
		client := r.store.master(r.rooms[0]).Client()
		return r.fault("maxmemory", nil, func() (string, error) {
			since := r.history.Len()
			if err := client.ConfigSet(ctx, "maxmemory-policy", "noeviction").Err(); err != nil {
				return "", err
			}
			if err := client.ConfigSet(ctx, "maxmemory", "1").Err(); err != nil {
				return "", err
			}
			err := pause(ctx, d)
			if err := client.ConfigSet(context.WithoutCancel(ctx), "maxmemory", "0").Err(); err != nil {
				return "", err
			}
			if err != nil {
				return "", err
			}
			return r.noticed(ctx, since, patience)
		})
	}}
}
