package faults

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Counts has the numbers that metrics and ledger both have, by a name such as "place lost".
type Counts map[string]int64

// Counted is what the replicas of a run have counted.
type Counted struct {
	Read   bool
	All    Counts // by every process that ran, as it was asked last
	Unseen Counts // at most as many more were counted by processes after they had been asked last
}

const placesJoined = "places joined"

// counters are the metrics that count the ledger's rows, with the labels that are compared.
var counters = map[string]struct {
	of string
	by []string
}{
	"waitroom_places_joined_total":    {of: placesJoined},
	"waitroom_leases_granted_total":   {of: "leases granted"},
	"waitroom_places_ended_total":     {"place", []string{"outcome"}},
	"waitroom_leases_ended_total":     {"lease", []string{"outcome"}},
	"waitroom_messages_total":         {"message", []string{"result", "reason"}},
	"waitroom_ledger_incidents_total": {"incident", []string{"kind"}},
}

// corrected are the metrics that count outcomes which the ledger replaced after they were counted.
var corrected = map[string]string{"waitroom_places_corrected_total": "place ",
	"waitroom_leases_corrected_total": "lease "}

var (
	sample = regexp.MustCompile(`(?m)^(waitroom_[a-z_]+)(?:\{(.*)\})? (\S+)$`)
	label  = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
)

// countsOf reads the counts in a replica's /metrics.
func countsOf(metrics string) Counts {
	c := Counts{}
	for _, s := range sample.FindAllStringSubmatch(metrics, -1) {
		labels := map[string]string{}
		for _, l := range label.FindAllStringSubmatch(s[2], -1) {
			labels[l[1]] = l[2]
		}
		n, _ := strconv.ParseFloat(s[3], 64) // what Prometheus writes is a number
		if of, ok := corrected[s[1]]; ok {
			c[of+labels["from"]] -= int64(n)
			c[of+labels["to"]] += int64(n)
		}
		if m, ok := counters[s[1]]; ok {
			name := m.of
			for _, by := range m.by {
				name += " " + labels[by]
			}
			c[strings.TrimSpace(name)] += int64(n)
		}
	}
	delete(c, "place open") // which has no outcome
	return c
}

func (c Counts) add(other Counts) {
	for of, n := range other {
		c[of] += n
	}
}

// since returns the difference to earlier counts.
func (c Counts) since(before Counts) Counts {
	more := Counts{}
	for of, n := range c {
		if n > before[of] {
			more[of] = n - before[of]
		}
	}
	return more
}

// counts returns the counts of the ledger's rows.
func (l Ledger) counts() Counts {
	c := Counts{}
	for _, w := range l.Leases {
		c["leases granted"]++
		if w.Outcome != "" {
			c["lease "+w.Outcome]++
		}
	}
	for _, w := range l.Places {
		c[placesJoined]++
		if w.Outcome != "" {
			c["place "+w.Outcome]++
		}
	}
	for _, w := range l.Messages {
		if w.Result != "" {
			c["message "+strings.TrimSpace(w.Result+" "+w.Reason)]++
		}
	}
	for _, kind := range l.Incidents {
		c["incident "+kind]++
	}
	return c
}

// counted requires that the counts of all replicas together equal the ledger's.
func (l Ledger) counted() (found []Violation) {
	if !l.Counted.Read {
		return nil
	}
	rows := l.counts()
	all := Counts{}
	all.add(rows)
	all.add(l.Counted.All)
	for _, of := range slices.Sorted(maps.Keys(all)) {
		has, counted, most := rows[of], l.Counted.All[of], rows[of]
		if of == placesJoined { // a ticket that was given out twice is two places in one row
			most += rows["incident ticket_reused"]
		}
		if counted < has-l.Counted.Unseen[of] || counted > most {
			found = append(found, Violation{Kind: Miscounted, Detail: fmt.Sprintf(
				"%s: the ledger has %d, and replicas counted %d (and up to %d unseen)", of, has, counted,
				l.Counted.Unseen[of])})
		}
	}
	return found
}
