package faults

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Plans in which replicas of two versions serve the same rooms.
const (
	mixedVersions = "mixed-versions"
	mixedClaims   = "mixed-claims"
)

// Mixed is a plan in which replicas of two versions serve the same rooms. One is killed and restarted; then
// the older ones are replaced by this version under load, as in an upgrade, and restored, as in a rollback.
func Mixed(older string) Plan {
	return Plan{Name: mixedVersions, Older: older, Sellers: 16, Shows: true, Webhooks: true, InOrder: true,
		Replicas: 4, Postgres: true, Steps: []Step{
			sideBySide(12 * time.Second), killReplica(2), becomes("upgraded", true), becomes("rolled back", false),
			sideBySide(10 * time.Second),
		}}
}

// MixedWithClaims is Mixed with leases that have to be claimed, if the older version has that setting.
func MixedWithClaims(older string) Plan {
	return Plan{Name: mixedClaims, Older: older, ClaimWithin: 800 * time.Millisecond, Sellers: 12,
		Webhooks: true, InOrder: true, Replicas: 4, Postgres: true, Steps: []Step{
			sideBySide(12 * time.Second), becomes("upgraded", true), becomes("rolled back", false),
			sideBySide(10 * time.Second),
		}}
}

// knowsClaims reports whether a version has the setting.
func knowsClaims(program string) (bool, error) {
	help, err := exec.Command(program, "--help").CombinedOutput()
	if err != nil {
		return false, fmt.Errorf("%s --help: %w\n%s", program, err, help)
	}
	return bytes.Contains(help, []byte("claim-within")), nil
}

// crossWithin is how long the plan waits for crossings. With claims, about three codes a minute are shown by
// the other version.
const crossWithin = 90 * time.Second

// sideBySide keeps load on both versions for a duration, and until events have crossed both ways.
func sideBySide(d time.Duration) Step {
	return Step{"two versions side by side", func(ctx context.Context, r *Run) error {
		since := r.history.Len()
		if err := pause(ctx, d); err != nil {
			return err
		}
		var c crossings
		err := until(crossWithin, func() error { c = r.crossings(since); return c.all() })
		r.history.Note("side by side: %s", c)
		return err
	}}
}

// crossings counts events that one version caused and the other sent, in each direction.
type crossings struct {
	turns, codes [2]int // by this version's sockets of what the older one answered; by the older one's
}

func (c crossings) String() string {
	return fmt.Sprintf("%d turns and %d codes that the older version gave and this one showed, %d and %d "+
		"the other way",
		c.turns[0], c.codes[0], c.turns[1], c.codes[1])
}

func (c crossings) all() error {
	if min(c.turns[0], c.turns[1], c.codes[0], c.codes[1]) == 0 {
		return fmt.Errorf("%w: %s", errUnmet, c)
	}
	return nil
}

// crossings counts the events since the n-th record that one version caused and the other sent. They are
// leases that a call to one version ended and whose next holder has a socket at the other, and messages that
// one version received and the other showed.
func (r *Run) crossings(since int) (c crossings) {
	old := map[string]bool{}
	for _, p := range r.replicas {
		old[p.name] = p.program != r.program
	}
	// the replica that received each message, and the one that answered the call behind each version
	took, ended := map[string]string{}, map[string]string{}
	at := func(rec Record) string { return fmt.Sprint(rec.Room, " ", rec.Epoch, " ", rec.Version) }
	records := r.history.Since(since)
	for _, rec := range records {
		switch {
		case rec.Kind == KindCall && rec.Op == "sms" && rec.Result == "matched":
			took[rec.Message] = rec.Replica
		case rec.Kind == KindCall && rec.Op == "leave" && rec.HTTP < 300:
			ended[at(rec)] = rec.Replica
		}
	}
	for _, rec := range records {
		if rec.Kind != KindFrame {
			continue
		}
		count, by := &c.turns, ended[at(rec)]
		if rec.Type == "sms" {
			count, by = &c.codes, took[rec.Message]
		} else if rec.Status != "locked" {
			continue
		}
		if by == "" || old[by] == old[rec.Replica] {
			continue
		}
		if old[by] {
			count[0]++
		} else {
			count[1]++
		}
	}
	return c
}

// becomes replaces every second replica, one after the other and by SIGTERM, by this version or by the older
// one.
func becomes(how string, this bool) Step {
	return Step{"replicas " + how, func(ctx context.Context, r *Run) error {
		for i, p := range r.replicas {
			if i%2 == 0 {
				continue
			}
			err := r.fault(p.name+" "+how, []*replica{p}, func() (string, error) {
				since := r.history.Len()
				p.process.Stop(syscall.SIGTERM)
				if p.program = r.plan.Older; this {
					p.program = r.program
				}
				if err := p.start(); err != nil {
					return "", err
				}
				return r.noticed(ctx, since, patience, p)
			})
			if err != nil {
				return err
			}
			if err := pause(ctx, every); err != nil {
				return err
			}
		}
		return nil
	}}
}
