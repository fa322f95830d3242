package rules

import (
	"fmt"
	"strings"
)

// Do repeats an event.
func (r *Room) Do(s *Settings, e Event) {
	r.Now = e.At
	switch e.Op {
	case OpGrant:
		r.Grant(e.Party, e.Asking)
	case OpLeave:
		r.Leave()
	case OpAsk:
		r.Ask(s, e.Narrow)
	case OpMessage:
		r.Arrive(s, e.Message)
	case OpClaim:
		r.Claim(s, e.Index)
	case OpReject:
		r.Reject(e.Index)
	}
}

// Story tells a history in words, a sentence for each event. A quarantine is 30 s.
func Story(s *Settings, events []Event) string {
	var sentences []string
	var r Room
	for _, e := range events {
		before := r
		r.Do(s, e)
		sentences = append(sentences, moment(e.At)+": "+r.sentence(&before, e)+".")
	}
	return strings.Join(sentences, "\n")
}

func moment(t Time) string { return fmt.Sprintf("%d s", t*5) }

func (r *Room) seller(l int8) string { return string(rune('A' + r.Leases[l].Party)) }

func (r *Room) sentence(before *Room, e Event) string {
	switch e.Op {
	case OpGrant:
		if !e.Asking {
			return r.seller(r.NumLeases-1) + " has the lock and does not announce asks"
		}
		return r.seller(r.NumLeases-1) + " has the lock"
	case OpLeave:
		return r.seller(r.NumLeases-1) + " leaves"
	case OpAsk:
		if e.Busy != 0 {
			return r.seller(r.NumLeases-1) + " asks: busy"
		}
		if e.Narrow {
			return r.seller(r.NumLeases-1) + " asks with a filter that refuses the marketplace's codes"
		}
		return r.seller(r.NumLeases-1) + " asks"
	case OpClaim:
		return r.seller(r.NumLeases-1) + " claims message " + fmt.Sprint(e.Index+1)
	case OpReject:
		return r.seller(before.Messages[e.Index].Lease) + " rejects message " + fmt.Sprint(e.Index+1)
	}
	m := &r.Messages[e.Index]
	return fmt.Sprintf("message %d, %s, is %s", e.Index+1, r.origin(m), m.outcome(r))
}

var copies = map[Kind]string{SentAgain: " a second time", OtherTime: " a second time",
	Reworded:      " in other words",
	ShortReworded: " of four digits in other words", Belated: " in other words"}

// origin tells what caused a message.
func (r *Room) origin(m *Message) string {
	switch m.Cause.Kind {
	case Stray:
		return "a text that does not count"
	case OwnPhone:
		return "a text with a made-up code from a seller's own line"
	case FalseCode:
		return "an advert with a number like a code"
	case Stranger:
		return "a code for a press of somebody who does not hold the lock"
	}
	if m.Cause.Lease == None {
		return "a copy of such a text"
	}
	text := r.seller(m.Cause.Lease) + "'s code"
	switch m.Cause.Kind {
	case SentAgain, OtherTime, Reworded, ShortReworded, Belated:
		text += copies[m.Cause.Kind]
	case AfterTurn:
		text += " of a press after its turn"
	case Unasked:
		text += " of a press without an ask"
	case Again:
		text += " of a second press on one ask"
	case SameAsAnothers:
		text += " of the very same text"
	}
	if m.Cause.Ask != None {
		text += " (asked at " + moment(r.Asks[m.Cause.Ask].At) + ", sent at " + moment(m.Cause.Sent)
	} else {
		text += " (sent at " + moment(m.Cause.Sent)
	}
	switch {
	case !m.Stamped:
		text += ", without a time"
	case m.From != m.Cause.Sent:
		text += ", stamped " + moment(m.From)
	}
	return text + ")"
}

func (m *Message) outcome(r *Room) string {
	name := "`" + m.Answer.String() + "`"
	if m.Lease != None {
		name += " and shown to " + r.seller(m.Lease)
	}
	if m.Offered != None {
		name += " and offered to " + r.seller(m.Offered)
	}
	return name
}

// Page are the settings of the stories: a quarantine of 30 s, and steps of 15 s.
var Page = Settings{Quarantine: 6, Behind: 1, OpenFor: 120}

// Counterexample returns the shortest world in which another session is shown a code because an assumption
// does not hold, nil for none.
func Counterexample(s Settings, without Assumption) []Event {
	for events := 4; events <= 11; events++ {
		x := Explorer{Settings: s, Stop: true, Bounds: Bounds{Leases: 2, Asks: 3, Messages: 3, Apart: true,
			Claims: 1, Waits: []Time{0, 1, 2}, Transit: 3, Events: events, Dropped: without}}
		if without == CopySoon {
			x.Waits = append(x.Waits, s.OpenFor/Step)
			x.Transit = s.OpenFor/Step + 1
			x.Rejects = 1
		}
		if without == KnownSender || without == NoFalseCode {
			x.Claims = 0
		}
		x.Run()
		if x.Violation != nil {
			return x.Violation
		}
	}
	return nil
}
