package faults

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// matter identifies a webhook's subject, which is one event however often it is delivered.
type matter struct {
	room, kind string
	fence      int64
	message    string
}

func (m matter) String() string {
	return fmt.Sprintf("%s of fence %d %s", m.kind, m.fence, m.message)
}

// webhooks requires that the integration received every lease and every matched message by one event. It must
// have received the grant of a lease before the lease's other events.
func (b *book) webhooks(l Ledger) (found []Violation) {
	ids := map[matter]map[string]bool{} // of its events
	taken := map[matter]Record{}        // the first that it took
	for _, r := range b.records {
		if r.Kind != KindWebhook {
			continue
		}
		m := matter{r.Room, r.Type, r.Fence, r.Message}
		at := func(kind, detail string) { found = append(found, Violation{kind, r.Room, r.Ended.Mono, detail}) }
		if r.Error != "" {
			at(WebhookMissing, fmt.Sprintf("webhook %s can not be read: %s", r.Webhook, r.Error))
			continue
		}
		if r.Type == "incident" {
			continue // the same may happen again
		}
		if ids[m] == nil {
			ids[m] = map[string]bool{}
		}
		if ids[m][r.Webhook] = true; len(ids[m]) == 2 {
			at(WebhookTwice, fmt.Sprintf("%s came as %v", m, slices.Sorted(maps.Keys(ids[m]))))
		}
		if _, granted := taken[matter{r.Room, "lock.granted", r.Fence, ""}]; m.kind != "lock.granted" && !granted {
			at(WebhookOrder, fmt.Sprintf("%s came before the lease's grant", m))
		}
		if _, before := taken[m]; !before && r.HTTP < 300 {
			taken[m] = r
		}
	}
	return append(found, missing(l, taken)...)
}

// missing returns the ledger's leases and matches that the integration did not receive, or received
// differently.
func missing(l Ledger, taken map[matter]Record) (found []Violation) {
	miss := func(m matter, more string) {
		found = append(found, Violation{Kind: WebhookMissing, Room: m.room, Detail: m.String() + " " + more})
	}
	for _, w := range l.Leases {
		for _, kind := range []string{"lock.granted", "lock.ended"} {
			m := matter{w.Room, kind, w.Fence, ""}
			switch r, ok := taken[m]; {
			case !ok:
				miss(m, "did not come")
			case kind == "lock.ended" && cmp.Or(r.Outcome, "none") != w.Outcome:
				miss(m, fmt.Sprintf("came as %s, and is %s in the ledger", r.Outcome, w.Outcome))
			}
		}
	}
	for _, w := range l.Messages {
		m := matter{w.Room, "sms.matched", w.Fence, w.ID}
		if _, ok := taken[m]; !ok && w.Result == "matched" {
			miss(m, "did not come")
		}
	}
	return found
}
