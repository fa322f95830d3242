package faults

import "fmt"

// codes requires that a code is shown only to the session that asked for it, and matched only to its lease,
// or left unmatched.
func (b *book) codes() (found []Violation) {
	asked := map[string]Record{}
	first := map[string]Record{} // answer to a message
	for _, r := range b.records {
		at := func(kind, detail string) { found = append(found, Violation{kind, r.Room, r.Ended.Mono, detail}) }
		m := asked[r.Message]
		switch {
		case r.Kind == KindMessage:
			asked[r.Message] = r
		case r.Kind == KindFrame && r.Type == "sms" &&
			(m.Session != r.Session || m.Code != r.Code || m.Room != r.Room):
			at(WrongCode, fmt.Sprintf("message %s was asked for by %s and is shown to %s", r.Message, m.Session,
				r.Session))
		case r.Op == "sms" && (r.Result == "matched" || r.Result == "late") && r.Fence != m.Fence:
			at(WrongCode, fmt.Sprintf("message %s was asked for with fence %d and is %s for %d", r.Message, m.Fence,
				r.Result, r.Fence))
		case r.Op == "sms" && r.Result != "":
			if f, ok := first[r.Message]; ok && (f.Result != r.Result || f.Fence != r.Fence) {
				at(WrongCode, fmt.Sprintf("message %s was answered %s for %d and then %s for %d", r.Message, f.Result,
					f.Fence, r.Result, r.Fence))
			}
			first[r.Message] = r
		}
	}
	return found
}
