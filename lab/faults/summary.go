package faults

import (
	"fmt"
	"strings"
	"time"
)

// summarise describes a run in a few lines, since a run in which nothing happened proves nothing.
func summarise(records []Record, ledger Ledger) string {
	calls, failed, frames, messages, webhooks := 0, 0, 0, 0, 0
	var b strings.Builder
	for _, r := range records {
		switch r.Kind {
		case KindCall:
			calls++
			if r.Error != "" || r.HTTP >= 500 {
				failed++
			}
		case KindFrame:
			frames++
		case KindMessage:
			messages++
		case KindWebhook:
			webhooks++
		case KindFault:
			fmt.Fprintf(&b, "  %6.2f s  %s, healed after %d ms, served again after %d ms: %s\n",
				float64(r.Began.Mono)/1e6, r.Fault,
				(r.Ended.Mono-r.Began.Mono)/1000, servedAfter(records, r).Milliseconds(), r.Detail)
		case KindNote:
			fmt.Fprintf(&b, "  %6.2f s  %s\n", float64(r.Ended.Mono)/1e6, r.Detail)
		}
	}
	return fmt.Sprintf("%d calls, %d of them failed, %d frames, %d messages, %d webhooks, %d leases and %d "+
		"places in the ledger\n%s",
		calls, failed, frames, messages, webhooks, len(ledger.Leases), len(ledger.Places), b.String())
}

// servedAfter returns how long after a fault's end the seller that joins and leaves without pause was served.
func servedAfter(records []Record, fault Record) time.Duration {
	for _, r := range records {
		changes := r.Kind == KindCall && r.Op != "status" && r.Room == prefix+"probe" && r.Error == "" &&
			r.HTTP < 500
		if changes && r.Ended.Mono >= fault.Ended.Mono {
			return time.Duration(r.Ended.Mono-fault.Ended.Mono) * time.Microsecond
		}
	}
	return 0
}
