package main

import (
	"context"
	"log"
	"os"
	"time"
)

const (
	defaultFailover = 40 * time.Second
	deadFor         = 5 * time.Second
)

// failoverFor is how long the failover scenario puts load on: DURATION, as its script reads it.
func failoverFor() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("DURATION")); err == nil {
		return d
	}
	return defaultFailover
}

// killOne kills the first replica after a while, as a crash would, and starts it again.
func (s *stack) killOne(ctx context.Context, r *report, after time.Duration) {
	if len(s.replicas) == 0 {
		log.Print("failover: this deployment is not ours: kill a replica of it yourself, now or soon")
		return
	}
	victim := s.replicas[0]
	if !pause(ctx, after) {
		return
	}
	log.Printf("failover: killing %s", victim.name)
	victim.running().Kill()
	r.mark("killed")
	if !pause(ctx, deadFor) {
		return
	}
	if err := s.serve(ctx, victim); err != nil {
		log.Printf("failover: %v", err)
		return
	}
	log.Printf("failover: %s is back", victim.name)
	r.mark("back")
}

// pause is false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
