package faults

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// A room as a linearizable object: every call takes effect at one moment between its beginning and its
// answer, and the answers are those of one line that is served in order. Leases are long, no seller has a
// socket, so none is ever away and nothing ends by itself. A call without an answer may take effect at any
// time from its beginning on, or never.

// linearInput is a call.
type linearInput struct {
	op      string // join, leave or status
	session string
	nth     int // of a session's calls of this kind that have no answer
}

// linearOutput is the answer to a call; its zero value means no answer.
type linearOutput struct {
	known            bool
	status           string // locked, waiting, ended, idle or no_place
	ticket, position int64
}

// line is the state of a room: its waiters, the holder first, the last ticket, and the sessions whose places
// have ended.
type line struct {
	tickets int64
	order   []spot
	ended   []string

	answered   int                 // calls that have an answer and took effect
	unanswered map[linearInput]int // those that have none, by session and kind
}

type spot struct {
	session string
	ticket  int64
	named   int // answers that named the ticket
}

func (l line) at(session string) int {
	return slices.IndexFunc(l.order, func(s spot) bool { return s.session == session })
}

// place returns what a session is answered about its place.
func (l line) place(session string) linearOutput {
	switch at := l.at(session); {
	case at == 0:
		return linearOutput{known: true, status: "locked", ticket: l.order[0].ticket}
	case at > 0:
		return linearOutput{known: true, status: "waiting", ticket: l.order[at].ticket, position: int64(at)}
	case slices.Contains(l.ended, session):
		return linearOutput{known: true, status: "ended"}
	}
	return linearOutput{known: true, status: "idle"}
}

// step returns the answer to a call and the state after it.
func (l line) step(in linearInput) (linearOutput, line) {
	at := l.at(in.session)
	switch in.op {
	case "join":
		if at < 0 {
			l.tickets++
			l.order = append(slices.Clip(l.order), spot{session: in.session, ticket: l.tickets})
			l.ended = without(l.ended, in.session)
		}
		return l.place(in.session), l
	case "leave":
		if at < 0 {
			return linearOutput{known: true, status: "no_place"}, l
		}
		out := linearOutput{known: true, status: "ended", ticket: l.order[at].ticket}
		l.order = slices.Delete(slices.Clone(l.order), at, at+1)
		l.ended = append(without(l.ended, in.session), in.session)
		slices.Sort(l.ended)
		return out, l
	}
	return l.place(in.session), l
}

func without(sessions []string, session string) []string {
	return slices.DeleteFunc(slices.Clone(sessions), func(s string) bool { return s == session })
}

func (l line) equal(other line) bool {
	return l.tickets == other.tickets && slices.Equal(l.order, other.order) && slices.Equal(l.ended, other.ended)
}

// roomModel is the room that a history is held against. Calls without an answer would let it be tried in more
// orders than anybody can wait for. Four things cut them down without losing one that matters:
//   - calls that change nothing come after all that have an answer, where no other call sees them;
//   - of a session's calls of one kind, which are alike, the first to begin is the first done;
//   - a ticket goes to the session whose answer named it;
//   - and is left after the last answer that named it.
func roomModel(operations []porcupine.Operation) porcupine.Model {
	answers, owners, named := 0, map[int64]string{}, map[int64]int{}
	for _, op := range operations {
		if out := op.Output.(linearOutput); out.known {
			answers++
			if out.ticket != 0 {
				owners[out.ticket] = op.Input.(linearInput).session
				named[out.ticket]++
			}
		}
	}
	return porcupine.Model{
		Init: func() any { return line{} },
		Step: func(state, input, output any) (bool, any) {
			l, in, got := state.(line), input.(linearInput), output.(linearOutput)
			if !got.known && l.answered == answers {
				return true, l
			}
			want, next := l.step(in)
			if owner, named := owners[next.tickets]; named && next.tickets != l.tickets && owner != in.session {
				return false, l
			}
			if got.known {
				next.answered++
				if at := next.at(in.session); at >= 0 {
					next.order = slices.Clone(next.order)
					next.order[at].named++
				}
				return got == want, next
			}
			kind := linearInput{op: in.op, session: in.session}
			if next.equal(l) || l.unanswered[kind] != in.nth {
				return false, l
			}
			if at := l.at(in.session); in.op == "leave" && l.order[at].named < named[l.order[at].ticket] {
				return false, l
			}
			next.unanswered = maps.Clone(l.unanswered)
			if next.unanswered == nil {
				next.unanswered = map[linearInput]int{}
			}
			next.unanswered[kind]++
			return true, next
		},
		Equal: func(a, b any) bool { return a.(line).equal(b.(line)) },
		DescribeOperation: func(input, output any) string {
			in, out := input.(linearInput), output.(linearOutput)
			if !out.known {
				return fmt.Sprintf("%s %.4s: no answer", in.op, in.session)
			}
			return fmt.Sprintf("%s %.4s: %s ticket %d at %d", in.op, in.session, out.status, out.ticket, out.position)
		},
		DescribeState: func(state any) string {
			var b strings.Builder
			for _, s := range state.(line).order {
				fmt.Fprintf(&b, "%.4s(%d) ", s.session, s.ticket)
			}
			return b.String()
		},
	}
}

// operations converts the calls of one room into porcupine's operations.
func operations(records []Record, room string) (list []porcupine.Operation) {
	clients, unanswered := map[string]int{}, map[linearInput]int{}
	for _, r := range records {
		if r.Kind != KindCall || r.Room != room || (r.Op != "join" && r.Op != "leave" && r.Op != "status") {
			continue
		}
		if _, ok := clients[r.Session]; !ok {
			clients[r.Session] = len(clients)
		}
		in := linearInput{op: r.Op, session: r.Session}
		op := porcupine.Operation{ClientId: clients[r.Session], Call: r.Began.Mono, Return: r.Ended.Mono}
		out := linearOutput{known: r.Error == "" && r.HTTP < 500, status: r.Status, ticket: r.Ticket,
			position: r.Position}
		switch {
		case !out.known && r.Op == "status":
			continue // nothing is known of it and it does nothing
		case !out.known:
			kind := in
			in.nth = unanswered[kind]
			unanswered[kind]++
			out, op.Return = linearOutput{}, math.MaxInt64
		case r.Problem == "no_place":
			out = linearOutput{known: true, status: "no_place"}
		}
		op.Input, op.Output = in, out
		list = append(list, op)
	}
	return list
}

// linearizable checks the calls of a room. A check that runs out of time counts as an error.
func linearizable(records []Record, room string, within time.Duration) (porcupine.CheckResult,
	porcupine.LinearizationInfo) {
	list := operations(records, room)
	return porcupine.CheckOperationsVerbose(roomModel(list), list, within)
}
