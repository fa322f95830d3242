package faults

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// sentinel is a Redis with a master, two replicas and three sentinels.
type sentinel struct{ *redistest.Sentinel }

func startSentinel(r *Run, args []string) store {
	config := redistest.SentinelConfig{Replicas: 2, Users: true, Args: append(args, r.plan.RedisArgs...)}
	if r.plan.Clock {
		r.clock = redistest.NewClock(r.tb)
		r.clock.Set(-replicasBehind)
		config.ReplicasClock = r.clock
	}
	return sentinel{redistest.StartSentinelWith(r.tb, config)}
}

// replicasBehind is how far the clock of replicas is behind the master's in a plan about clocks.
const replicasBehind = 20 * time.Second

// clockAsked is how often the sentinels are asked which server is the master.
const clockAsked = 20 * time.Millisecond

func (s sentinel) connect(*Run, string) (string, *link) { return s.URL(), nil }

func (s sentinel) master(string) *redistest.Server { return s.Master() }

func (s sentinel) servers() []*redistest.Server { return s.Nodes() }

// onSentinel disturbs a master, waits until another one has taken over, and brings the old one back.
func onSentinel(name string, midLease bool,
	harm func(ctx context.Context, r *Run, s sentinel, master *redistest.Server) (string, error),
	back func(sentinel, *redistest.Server)) Step {
	return Step{name, func(ctx context.Context, r *Run) error {
		s, ok := r.store.(sentinel)
		if !ok {
			return fmt.Errorf("there are no sentinels here")
		}
		if midLease {
			if err := r.midLease(ctx); err != nil {
				return err
			}
		}
		old := s.Master()
		err := r.fault(name, nil, func() (string, error) {
			detail, err := harm(ctx, r, s, old)
			if err == nil {
				s.AwaitFailover(old)
			}
			return detail, err
		})
		if err != nil {
			return err
		}
		r.recovered(ctx, name)
		back(s, old)
		s.AwaitWhole()
		return nil
	}}
}

// followClock records the clock of the current master, until stop: the servers' clocks differ, and the
// sentinels may change their minds several times.
func (r *Run) followClock(ctx context.Context) (stop func()) {
	s, ok := r.store.(sentinel)
	if !ok || r.clock == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		first := s.Nodes()[0]
		master := first
		for pause(ctx, clockAsked) == nil {
			named := s.Agreed()
			if named == nil || named == master {
				continue
			}
			master = named
			ahead := -replicasBehind
			if master == first {
				ahead = 0
			}
			r.clockIs(ahead)
		}
	})
	return func() {
		cancel()
		following.Wait()
	}
}

// comeBack starts a killed master again as a replica of the new one. The sentinels would do the same, seconds
// later.
func comeBack(s sentinel, old *redistest.Server) {
	old.Restart()
	for _, replica := range s.Replicas() {
		s.Follow(replica)
	}
}

// failOver makes the sentinels promote a replica, as for maintenance.
func failOver() Step {
	return onSentinel("failover by command", false,
		func(_ context.Context, _ *Run, s sentinel, _ *redistest.Server) (string, error) {
			s.Failover()
			return "promoted", nil
		}, func(sentinel, *redistest.Server) {})
}

// killMaster kills the master while replication has no lag.
func killMaster() Step {
	return onSentinel("master killed", true,
		func(_ context.Context, _ *Run, _ sentinel, master *redistest.Server) (string, error) {
			master.Kill()
			return "killed", nil
		}, comeBack)
}

// failOverWithLag kills a master whose replicas have been behind for a while: the master's replies of that
// time are lost.
func failOverWithLag(lag time.Duration) Step {
	return onSentinel("failover with a lag of "+lag.String(), true,
		func(ctx context.Context, r *Run, s sentinel, master *redistest.Server) (string, error) {
			s.StopReplication(master)
			if err := pause(ctx, lag); err != nil {
				return "", err
			}
			var detail string
			err := until(lagLonger, func() error { // a crowd that only waits observes nothing that could be lost
				known, err := knownTo(ctx, s.Replicas(), r.rooms)
				if err == nil {
					detail, err = met(lost(r.history.Latest(), known), "replicas stopped at a time")
				}
				return err
			})
			if err != nil {
				return "", err
			}
			master.Kill()
			return detail, nil
		}, comeBack)
}

// lagLonger is how much longer replicas may stay behind until a client observes what they miss. Sentinels
// promote no replica whose link to the master was down for ten times down-after-milliseconds.
const lagLonger = 3 * time.Second

// knownTo returns the latest version of each room that any of the servers has.
func knownTo(ctx context.Context, servers []*redistest.Server, rooms []string) (map[string]lineage, error) {
	known := map[string]lineage{}
	for _, s := range servers {
		has, err := lineages(ctx, s.Client(), rooms)
		if err != nil {
			return nil, err
		}
		for room, l := range has {
			if l.beyond(known[room]) {
				known[room] = l
			}
		}
	}
	return known, nil
}

// partition separates the master from replicas and sentinels. The master continues until its clients learn of
// the new one; then the partition ends.
func partition(alone time.Duration) Step {
	return onSentinel("master partitioned", true,
		func(_ context.Context, _ *Run, s sentinel, master *redistest.Server) (string, error) {
			s.StopObserving(master)
			s.StopReplication(master)
			return "replicas and sentinels were shut out of the master, its clients were not", nil
		}, func(s sentinel, old *redistest.Server) {
			<-time.After(alone)
			s.Reunite(old)
		})
}
