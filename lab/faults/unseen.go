package faults

import (
	"fmt"
	"time"
)

// showsWithin is how long a session must have had one socket, and no other place, after its code arrived.
const showsWithin = 100 * time.Millisecond

// unseen requires that a code was shown if its seller had a socket. The replica that received the message and
// the one with the socket may have different versions. A code of an earlier turn is not shown in the next.
func (b *book) unseen() (found []Violation) {
	asked, shown := map[string]Record{}, map[string]bool{}
	opened, joined := map[string]int64{}, map[string]int64{} // when a session's socket was, and its last place
	due := map[string]Record{}                               // a session's code that was not shown yet
	miss := func(session string, at int64) {
		m, ok := due[session]
		delete(due, session)
		if ok && !shown[m.Message] && at-m.Ended.Mono >= showsWithin.Microseconds() {
			found = append(found, Violation{CodeUnseen, asked[m.Message].Room, m.Ended.Mono,
				fmt.Sprintf("message %s, taken by %s, is %s's, who had a socket for %s then and was not shown it",
					m.Message, m.Replica, session,
					(time.Duration(at-m.Ended.Mono) * time.Microsecond).Round(time.Millisecond))})
		}
	}
	for _, r := range b.records {
		switch {
		case r.Kind == KindMessage:
			asked[r.Message] = r
		case r.Kind == KindOpen:
			opened[r.Session] = r.Ended.Mono
		case r.Kind == KindClose:
			delete(opened, r.Session)
			miss(r.Session, r.Ended.Mono)
		case r.Kind == KindFrame && r.Type == "sms":
			shown[r.Message] = true
			delete(due, r.Session)
		case r.Op == "join":
			miss(r.Session, r.Began.Mono)
			joined[r.Session] = r.Ended.Mono
		case r.Op == "sms" && r.Result == "matched" && !shown[r.Message]:
			session := asked[r.Message].Session
			if at, ok := opened[session]; ok && at < r.Began.Mono && joined[session] < r.Began.Mono {
				due[session] = r
			}
		}
	}
	if n := len(b.records); n > 0 {
		for session := range due {
			miss(session, b.records[n-1].Ended.Mono)
		}
	}
	return found
}
