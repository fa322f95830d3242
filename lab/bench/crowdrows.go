package main

import (
	"fmt"
	"strings"
)

func (b *bench) memoryRow(ours *server, others []*server) {
	var peers []string
	for _, o := range others {
		peers = append(peers, fmt.Sprintf("%s %s KiB", o.name, number(o.each)))
	}
	b.add(row{what: "resident memory per idle connected seller, 9,000 sockets on one replica, 30 s after " +
		"they opened", bar: "≤ 9 KiB",
		checks: []check{{"", ours.each, " KiB", 9, false}},
		how: fmt.Sprintf("VmRSS of the replica, read by another process %s after the last socket opened, less "+
			"what it was before anybody had joined; no collection was forced. In the same run: %s.",
			b.span(crowdRest), strings.Join(peers, ", "))})
}

// fanOutRow compares waitroom's fan-out with that of the first rival. Both were measured in turn.
func (b *bench) fanOutRow(ours *server, others []*server) {
	var peers []string
	for _, o := range others {
		peers = append(peers, fmt.Sprintf("%s %s ms (%s, %d times)", o.name, number(o.delays.median()),
			o.delays.spread(" ms"), len(o.delays)))
	}
	rival := others[0]
	r := row{what: "one handoff → the last of 9,000 waiters has its own new position",
		bar:    "≤ 0.70 × Centrifugo's broadcast of one identical frame",
		checks: []check{{"", ours.delays.median() / rival.delays.median(), " × " + rival.name, 0.70, false}},
		how: fmt.Sprintf("%d handoffs, in turn with the broadcasts of %s. From the first byte of the DELETE "+
			"until the last socket had its new position: median %s ms (%s); every position was looked at and right. "+
			"One identical frame, about as long, to as many by: %s.", len(ours.delays), rival.name,
			number(ours.delays.median()), ours.delays.spread(" ms"), strings.Join(peers, ", "))}
	if rival.name == plainName {
		r.open = "CENTRIFUGO_BIN=/path/to/centrifugo names the program to compare with"
	}
	b.add(r)
}
