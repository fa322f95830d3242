package faults

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// matter is what a webhook tells of: it is one event, however often it comes.
type matter struct {
	room, kind string
	fence      int64
	message    string
}

func (m matter) String() string {
	return fmt.Sprintf("%s of fence %d %s", m.kind, m.fence, m.message)
}

// webhooks holds that the integration was told of every lease and of every message that was matched, by one
// event each, and of a lease's beginning before anything else of it.
func (b *book) webhooks(l Ledger) (found []Violation) {
	ids := map[matter]map[string]bool{} // of the events that it was told by
	told := map[matter]Record{}         // the first that it took
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
			at(WebhookTwice, fmt.Sprintf("%s is told as %v", m, slices.Sorted(maps.Keys(ids[m]))))
		}
		if _, granted := told[matter{r.Room, "lock.granted", r.Fence, ""}]; m.kind != "lock.granted" && !granted {
			at(WebhookOrder, fmt.Sprintf("%s is told before that the lease was granted", m))
		}
		if _, before := told[m]; !before && r.HTTP < 300 {
			told[m] = r
		}
	}
	return append(found, untold(l, told)...)
}

// untold are those of the ledger's leases and matches that the integration was not told of, or not so.
func untold(l Ledger, told map[matter]Record) (found []Violation) {
	miss := func(m matter, more string) {
		found = append(found, Violation{Kind: WebhookMissing, Room: m.room, Detail: m.String() + " " + more})
	}
	for _, w := range l.Leases {
		for _, kind := range []string{"lock.granted", "lock.ended"} {
			m := matter{w.Room, kind, w.Fence, ""}
			switch r, ok := told[m]; {
			case !ok:
				miss(m, "was not told")
			case kind == "lock.ended" && cmp.Or(r.Outcome, "none") != w.Outcome:
				miss(m, fmt.Sprintf("was told as %s, and is %s in the ledger", r.Outcome, w.Outcome))
			}
		}
	}
	for _, w := range l.Messages {
		m := matter{w.Room, "sms.matched", w.Fence, w.ID}
		if _, ok := told[m]; !ok && w.Result == "matched" {
			miss(m, "was not told")
		}
	}
	return found
}
