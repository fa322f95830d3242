package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/waitroom/waitroom/lab/stack"
)

const (
	defaultFailover = 40 * time.Second
	deadFor         = 5 * time.Second
)

// failoverFor returns how long the failover scenario runs: DURATION, as its script reads it.
func failoverFor() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("DURATION")); err == nil {
		return d
	}
	return defaultFailover
}

// killOne kills the first replica after a while (SIGKILL), and starts it again.
func (d *deployment) killOne(ctx context.Context, r *report, after time.Duration) {
	if len(d.replicas) == 0 {
		log.Print("failover: this deployment is not ours: kill a replica of it yourself, now or soon")
		return
	}
	victim := d.replicas[0]
	if !stack.Pause(ctx, after) {
		return
	}
	log.Printf("failover: killing %s", victim.Name)
	victim.Kill()
	r.mark("killed")
	if !stack.Pause(ctx, deadFor) {
		return
	}
	if err := d.Serve(ctx, victim); err != nil {
		log.Printf("failover: %v", err)
		return
	}
	log.Printf("failover: %s is back", victim.Name)
	r.mark("back")
}
