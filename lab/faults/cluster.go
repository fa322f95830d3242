package faults

import (
	"context"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// cluster is a Redis Cluster of three masters, each with a replica.
type cluster struct {
	*redistest.Cluster
	run *Run
}

func startCluster(r *Run, args []string) store {
	c := redistest.StartClusterWith(r.tb, redistest.Config{Args: append(args, r.plan.RedisArgs...)})
	c.AddReplicas()
	return cluster{c, r}
}

func (c cluster) connect(*Run, string) (string, *link) { return c.URL(), nil }

func (c cluster) master(room string) (owner *redistest.Server) {
	testproc.Until(c.run.tb, patience, func() (err error) {
		owner, err = c.Owner("{" + room + "}:lock")
		return err
	})
	return owner
}

func (c cluster) servers() []*redistest.Server {
	return append(slices.Clone(c.Nodes()), c.Replicas()...)
}

// killShard kills the master of a room. Its replica takes over, and the killed server comes back as a
// replica.
func killShard() Step {
	return Step{"the master of a shard killed", func(ctx context.Context, r *Run) error {
		old := r.store.master(r.rooms[0])
		if err := r.midLease(ctx); err != nil {
			return err
		}
		err := r.fault("master of a shard killed", nil, func() (string, error) {
			since := r.history.Len()
			old.Kill()
			if r.store.master(r.rooms[0]) == old {
				return "", fmt.Errorf("%w: no replica took over", errUnmet)
			}
			return r.noticed(ctx, since, patience)
		})
		if err != nil {
			return err
		}
		r.recovered(ctx, "master of a shard killed")
		old.Restart()
		return nil
	}}
}

// moveSlots moves the slots of every room and of the index to the next master while they are in use.
func moveSlots() Step {
	return Step{"slots moved", func(ctx context.Context, r *Run) error {
		c, ok := r.store.(cluster)
		if !ok {
			return fmt.Errorf("there are no slots here")
		}
		return r.fault("slots moved", nil, func() (string, error) {
			keys := 0
			for _, room := range append(slices.Clone(r.rooms), "waitroom") {
				n, err := c.Move("{" + room + "}")
				if err != nil {
					return "", err
				}
				keys += n
			}
			if keys == 0 {
				return "", fmt.Errorf("%w: there was nothing in the slots", errUnmet)
			}
			return fmt.Sprintf("%d keys", keys), nil
		})
	}}
}

// emptyShard empties the shard that has the index.
func emptyShard() Step {
	return Step{"the index's shard emptied", func(ctx context.Context, r *Run) error {
		if err := r.midLease(ctx); err != nil {
			return err
		}
		return r.fault("shard emptied", nil, func() (string, error) {
			client := r.store.master("waitroom").Client()
			n, err := client.DBSize(ctx).Result()
			if err == nil {
				err = client.FlushAll(ctx).Err()
			}
			if err == nil && n == 0 {
				err = fmt.Errorf("%w: it was empty", errUnmet)
			}
			return fmt.Sprintf("%d keys", n), err
		})
	}}
}
