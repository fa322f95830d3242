package hub

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
)

// The frames of support's sockets. Each is made once and told to many; no session is in any of them.

// deskFrame shows the whole room.
func deskFrame(id room.ID, r *mirror.Roster, now int64) []byte {
	b := socket.Blank(512 + 64*len(r.Line))
	b = appendString(append(b, `{"type":"desk","room":`...), string(id))
	b = appendRoom(b, r, now)
	b = append(b, `,"line":[`...)
	for i := range r.Line {
		w := &r.Line[i]
		b = appendWaiter(comma(b), w)
		b = append(appendInt(b, ",", w.AwaySince), ']')
	}
	return socket.Text(append(b, "]}"...))
}

// changeFrame shows how the room is now, and what changed of the line.
func changeFrame(r *mirror.Roster, c *mirror.Change, now int64) []byte {
	b := append(socket.Blank(512), `{"type":"change"`...)
	b = appendRoom(b, r, now)
	b = appendList(b, `,"left":[`, c.Left, func(b []byte, p *mirror.Parting) []byte {
		b = appendInt(b, "[", p.Ticket)
		return append(appendText(b, ",", string(p.Outcome)), ']')
	})
	b = appendList(b, `,"joined":[`, c.Joined, func(b []byte, p *mirror.Placing) []byte {
		b = appendWaiter(b, &p.Waiter)
		return append(appendInt(b, ",", int64(p.Position)), ']')
	})
	b = appendList(b, `,"moved":[`, c.Moved, func(b []byte, p *mirror.Placing) []byte {
		b = appendInt(b, "[", p.Ticket)
		return append(appendInt(b, ",", int64(p.Position)), ']')
	})
	b = appendList(b, `,"away":[`, c.Away, func(b []byte, a *mirror.Absence) []byte {
		b = appendInt(b, "[", a.Ticket)
		return append(appendInt(b, ",", a.Since), ']')
	})
	return socket.Text(append(b, '}'))
}

// appendRoom appends what a room's first frame and its changes have in common.
func appendRoom(b []byte, r *mirror.Roster, now int64) []byte {
	b = appendInt(b, `,"epoch":`, r.Epoch)
	b = appendInt(b, `,"version":`, r.Version)
	b = appendInt(b, `,"server_time":`, now)
	b = appendBool(b, `,"paused":`, r.Paused)
	b = appendInt(b, `,"hold":`, r.Hold)
	if r.Lease.Fence == 0 {
		return append(b, `,"holder":null`...)
	}
	l := &r.Lease
	b = appendInt(b, `,"holder":{"ticket":`, l.Ticket)
	b = appendString(append(b, `,"seller_id":`...), r.Holder)
	b = appendInt(b, `,"fence":`, l.Fence)
	b = appendInt(b, `,"granted_at":`, l.GrantedAt)
	b = appendInt(b, `,"expires_at":`, l.ExpiresAt)
	b = appendInt(b, `,"asked":`, int64(l.Asked))
	b = appendInt(b, `,"open":`, int64(l.Open))
	b = appendIf(b, `,"ask_after":`, l.AskAfter, l.AskAfter > now)
	return append(b, '}')
}

// appendWaiter appends a waiter's part of a list, to be closed.
func appendWaiter(b []byte, w *room.Waiter) []byte {
	b = appendInt(b, "[", w.Ticket)
	b = appendString(append(b, ','), w.Seller)
	return appendInt(b, ",", w.JoinedAt)
}

// appendList appends a member that is a list; an empty one is left out.
func appendList[T any](b []byte, open string, list []T, one func([]byte, *T) []byte) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, open...)
	for i := range list {
		b = one(comma(b), &list[i])
	}
	return append(b, ']')
}

// comma separates an element from one before it.
func comma(b []byte) []byte {
	if b[len(b)-1] == '[' {
		return b
	}
	return append(b, ',')
}

func appendBool(b []byte, name string, yes bool) []byte {
	return strconv.AppendBool(append(b, name...), yes)
}

// appendString appends any text as JSON. Sellers' ids need no escaping.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' {
			return appendJSON(b, s)
		}
	}
	if !utf8.ValidString(s) {
		return appendJSON(b, s)
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendJSON(b []byte, v any) []byte {
	s, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...) // strings and our own structs always marshal
	}
	return append(b, s...)
}

// listFrame shows items or minutes: with reset these are all there are.
func listFrame(kind string, reset bool, set []Item, drop []string) []byte {
	b := appendText(socket.Blank(1024), `{"type":`, kind)
	if reset {
		b = append(b, `,"reset":true`...)
	}
	b = append(b, `,"set":[`...)
	for i := range set {
		b = append(comma(b), set[i].JSON...)
	}
	b = append(b, ']')
	b = appendList(b, `,"drop":[`, drop, func(b []byte, key *string) []byte { return appendString(b, *key) })
	return socket.Text(append(b, '}'))
}

// beatFrame shows how old what is shown is.
func beatFrame(now, asOf int64) []byte {
	b := appendInt(socket.Blank(64), `{"type":"beat","server_time":`, now)
	return socket.Text(append(appendInt(b, `,"as_of":`, asOf), '}'))
}
