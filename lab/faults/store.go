package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// The stores that a plan can name.
const (
	Single   = "single"   // one server with an append-only file
	Sentinel = "sentinel" // a master, two replicas, three sentinels
	Cluster  = "cluster"  // three masters, each with a replica
)

// store is the Redis of a run.
type store interface {
	// connect makes a replica's link to Redis and returns its URL.
	connect(r *Run, name string) (url string, back *link)
	// master returns the master that has a room now.
	master(room string) *redistest.Server
	// servers returns all servers.
	servers() []*redistest.Server
}

func (r *Run) startStore() {
	// Answered writes are with the kernel, so that a plan loses what it takes away and nothing else: with
	// everysec a Redis that is killed loses what waited behind a slow sync.
	keep := []string{"--appendonly", "yes", "--appendfsync", "no"}
	switch r.plan.Store {
	case Sentinel:
		r.store = startSentinel(r, keep)
	case Cluster:
		r.store = startCluster(r, keep)
	default:
		r.store = startSingle(r, keep)
	}
}

// single is one server. In plans with lost replies, each replica connects through a proxy that parses
// requests and replies.
type single struct {
	server *redistest.Server
	lossy  []*redistest.Proxy
}

func startSingle(r *Run, args []string) *single {
	if r.plan.Clock {
		r.clock = redistest.NewClock(r.tb)
	}
	return &single{server: redistest.StartWith(r.tb,
		redistest.Config{Clock: r.clock, Args: append(args, r.plan.RedisArgs...)})}
}

func (s *single) connect(r *Run, name string) (string, *link) {
	addr := s.server.Addr()
	if r.plan.LosesReplies {
		proxy := s.server.Proxy()
		s.lossy = append(s.lossy, proxy)
		addr = proxy.Addr()
	}
	back := r.network.to(name+"-redis", addr)
	return "redis://" + back.addr, back
}

func (s *single) master(string) *redistest.Server { return s.server }

func (s *single) servers() []*redistest.Server { return []*redistest.Server{s.server} }

// lineages returns the version of each room that a server has; rooms that it does not have are missing.
func lineages(ctx context.Context, client redis.UniversalClient, rooms []string) (map[string]lineage, error) {
	known := map[string]lineage{}
	for _, room := range rooms {
		text, err := client.HGet(ctx, "{"+room+"}:state", "room").Bytes()
		if errors.Is(err, redis.Nil) {
			continue // it does not know the room
		}
		if err != nil {
			return nil, fmt.Errorf("lineage of %s: %w", room, err)
		}
		var state struct{ Epoch, Version int64 }
		if err := json.Unmarshal(text, &state); err != nil {
			return nil, fmt.Errorf("lineage of %s: %w", room, err)
		}
		if state.Epoch != 0 {
			known[room] = lineage{epoch: state.Epoch, version: state.Version}
		}
	}
	return known, nil
}

// lost returns the rooms of which clients observed a later version than a store has.
func lost(observed, known map[string]lineage) (rooms []string) {
	for room, l := range observed {
		if l.beyond(known[room]) {
			rooms = append(rooms, fmt.Sprintf("%s (observed %d, known %d)", room, l.version, known[room].version))
		}
	}
	return rooms
}
