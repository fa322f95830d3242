package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// measure is a group of rows that are measured together.
type measure struct {
	name string
	what string
	run  func(*bench, context.Context) error
}

// measures returns all measurements, in the order of the table.
func measures() []measure {
	return []measure{
		{"handoff", "release → next holder's frame, on another replica, 1,000 connected waiters", (*bench).handoff},
		{"expiry", "`expires_at` → next holder's frame, with 10,000 other keys that have a TTL", (*bench).expiry},
		{"crowd", "9,000 sockets on one replica: memory, and one handoff → the last one's new position",
			(*bench).crowd},
		{"idle", "nothing happens: 4,000 waiters more in one room; 4,000 rooms more", (*bench).idle},
		{"verbs", "a join or leave of a free room in Redis", (*bench).verbs},
		{"line", "join, leave and position at 100,000 waiters against 10", (*bench).line},
		{"lock", "`lock`: 64 contenders on one key", (*bench).lock},
		{"pairs", "join + done pairs/s, 64 clients, 200 rooms", (*bench).pairs},
		{"drain", "ledger drain, one room", (*bench).drain},
		{"failover", "replica killed with 9,000 sockets", (*bench).failover},
		{"carriers", "simulated carriers (`sms/sim`)", (*bench).carriers},
		{"load", "latency against load", (*bench).latency},
	}
}

func names() (list []string) {
	for _, m := range measures() {
		list = append(list, m.name)
	}
	return list
}

// chosen returns the named measurements, or all.
func chosen(only string) ([]measure, error) {
	if only == "" {
		return measures(), nil
	}
	wanted := strings.FieldsFunc(only, func(r rune) bool { return r == ',' || r == ' ' })
	for _, w := range wanted {
		if !slices.Contains(names(), w) {
			return nil, fmt.Errorf("there is no measurement %q; there are: %s", w, strings.Join(names(), " "))
		}
	}
	return slices.DeleteFunc(measures(), func(m measure) bool { return !slices.Contains(wanted, m.name) }), nil
}
