package desk

import (
	"encoding/json"

	"github.com/waitroom/waitroom/hub/frame"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
)

// The frames of support's sockets. Each is made once and sent to many; no session is in any of them.

// roomFrame returns the frame with the whole room.
func roomFrame(id room.ID, r *mirror.Roster, opens, now int64) []byte {
	b := socket.Blank(512 + 64*len(r.Line))
	b = frame.Text(append(b, `{"type":"desk","room":`...), string(id))
	b = appendState(b, r, opens, now)
	b = append(b, `,"line":[`...)
	for i := range r.Line {
		w := &r.Line[i]
		b = appendWaiter(frame.Comma(b), w)
		b = append(frame.Int(b, ",", w.AwaySince), ']')
	}
	return socket.Text(append(b, "]}"...))
}

// changeFrame returns the frame with the room's state and the changes of the line.
func changeFrame(r *mirror.Roster, c *mirror.Change, opens, now int64) []byte {
	b := append(socket.Blank(512), `{"type":"change"`...)
	b = appendState(b, r, opens, now)
	b = frame.List(b, `,"left":[`, c.Left, func(b []byte, p *mirror.Parting) []byte {
		b = frame.Int(b, "[", p.Ticket)
		return append(frame.Word(b, ",", string(p.Outcome)), ']')
	})
	b = frame.List(b, `,"joined":[`, c.Joined, func(b []byte, p *mirror.Placing) []byte {
		b = appendWaiter(b, &p.Waiter)
		return append(frame.Int(b, ",", int64(p.Position)), ']')
	})
	b = frame.List(b, `,"moved":[`, c.Moved, func(b []byte, p *mirror.Placing) []byte {
		b = frame.Int(b, "[", p.Ticket)
		return append(frame.Int(b, ",", int64(p.Position)), ']')
	})
	b = frame.List(b, `,"away":[`, c.Away, func(b []byte, a *mirror.Absence) []byte {
		b = frame.Int(b, "[", a.Ticket)
		return append(frame.Int(b, ",", a.Since), ']')
	})
	return socket.Text(append(b, '}'))
}

// appendState appends the members that a room's first frame and its changes have in common.
func appendState(b []byte, r *mirror.Roster, opens, now int64) []byte {
	b = frame.Int(b, `,"epoch":`, r.Epoch)
	b = frame.Int(b, `,"version":`, r.Version)
	b = frame.Int(b, `,"server_time":`, now)
	b = frame.Bool(b, `,"paused":`, r.Paused)
	b = frame.IntIf(b, `,"opens_at":`, opens, opens != 0)
	b = append(append(b, `,"support":`...), supportJSON(r.Support, now)...)
	b = frame.Int(b, `,"hold":`, r.Hold)
	if r.Lease.Fence == 0 {
		return append(b, `,"holder":null`...)
	}
	l := &r.Lease
	b = frame.Int(b, `,"holder":{"ticket":`, l.Ticket)
	b = frame.Text(append(b, `,"seller_id":`...), r.Holder)
	b = frame.Int(b, `,"fence":`, l.Fence)
	b = frame.Int(b, `,"granted_at":`, l.GrantedAt)
	b = frame.Int(b, `,"expires_at":`, l.ExpiresAt)
	b = frame.Int(b, `,"asked":`, int64(l.Asked))
	b = frame.Int(b, `,"open":`, int64(l.Open))
	b = frame.IntIf(b, `,"ask_after":`, l.AskAfter, l.AskAfter > now)
	return append(b, '}')
}

// supportJSON returns what support has set for the whole room, with the announcement in all its languages.
func supportJSON(s *room.BySupport, now int64) []byte {
	if s == nil || s.Ends <= now {
		return []byte("null")
	}
	text, err := json.Marshal(struct {
		Announcement *room.Announcement `json:"announcement"`
		NoticeUntil  int64              `json:"announced_until,omitempty"`
		OpenUntil    int64              `json:"open_until,omitempty"`
		ClosedUntil  int64              `json:"closed_until,omitempty"`
	}{s.Announced(now), s.NoticeUntil, s.OpenUntil, s.ClosedUntil})
	if err != nil {
		return []byte("null") // strings and integers always marshal
	}
	return text
}

// appendWaiter appends the first elements of a waiter's array; the caller closes the array.
func appendWaiter(b []byte, w *room.Waiter) []byte {
	b = frame.Int(b, "[", w.Ticket)
	b = frame.Text(append(b, ','), w.Seller)
	return frame.Int(b, ",", w.JoinedAt)
}

// listFrame returns a frame with objects of a side panel. With reset they replace all earlier ones.
func listFrame(kind string, reset bool, set []Item, drop []string) []byte {
	b := frame.Word(socket.Blank(1024), `{"type":`, kind)
	if reset {
		b = append(b, `,"reset":true`...)
	}
	b = append(b, `,"set":[`...)
	for i := range set {
		b = append(frame.Comma(b), set[i].JSON...)
	}
	b = append(b, ']')
	b = frame.List(b, `,"drop":[`, drop, func(b []byte, key *string) []byte { return frame.Text(b, *key) })
	return socket.Text(append(b, '}'))
}

// heartbeatFrame returns the frame with the age of the page's data.
func heartbeatFrame(now, asOf int64) []byte {
	b := frame.Int(socket.Blank(64), `{"type":"beat","server_time":`, now)
	return socket.Text(append(frame.Int(b, `,"as_of":`, asOf), '}'))
}
