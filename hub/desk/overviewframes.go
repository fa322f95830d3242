package desk

import (
	"slices"
	"time"

	"github.com/waitroom/waitroom/hub/frame"
	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
)

// rowsTogether is the most rooms in one frame.
const rowsTogether = 500

// send sends the rows that have changed, some of them by time alone. It returns true while some rooms have
// not been read.
func (o *overview) send() (more bool) {
	now := o.d.Clock.MS()
	o.mu.Lock()
	defer o.mu.Unlock()
	var set []room.ID
	var drop []string
	for id, r := range o.rows {
		switch {
		case r.gone:
			delete(o.rows, id)
			if r.sent {
				drop = append(drop, string(id))
			}
		case !r.known:
			more = true
		default:
			if s := r.at(now); s != r.last || !r.sent {
				r.last, r.sent = s, true
				set = append(set, id)
			}
		}
	}
	switch {
	case !o.ready && (len(set) > 0 || o.listed && len(o.dirty) == 0):
		o.ready = true
		o.feed.markAll() // for every watcher that waits for the first rows
	case o.ready && len(set)+len(drop) > 0:
		slices.Sort(set)
		slices.Sort(drop)
		for _, text := range o.frames(false, set, drop, now) {
			o.feed.send(text)
		}
	}
	return more
}

// frames returns frames with the rooms; the first one also has reset and drop.
func (o *overview) frames(reset bool, set []room.ID, drop []string, now int64) (frames [][]byte) {
	for first := true; first || len(set) > 0; first = false {
		n := min(len(set), rowsTogether)
		frames = append(frames, o.roomsFrame(reset && first, set[:n], drop, now))
		set, drop = set[n:], nil
	}
	return frames
}

// opening returns the frames with all rooms. It makes them once for all watchers that come within a moment.
func (o *overview) opening() (opening, bool) {
	o.openMu.Lock()
	defer o.openMu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ready {
		return opening{}, false
	}
	if !time.Now().Before(o.until) || !o.feed.keeps(o.opened.next) {
		var all []room.ID
		for id, r := range o.rows {
			if r.sent {
				all = append(all, id)
			}
		}
		slices.Sort(all)
		o.opened, o.until = opening{o.frames(true, all, nil, o.d.Clock.MS()),
			o.feed.end()}, time.Now().Add(openingFor)
	}
	return o.opened, true
}

func (o *overview) roomsFrame(reset bool, set []room.ID, drop []string, now int64) []byte {
	b := append(socket.Blank(256+192*len(set)), `{"type":"rooms"`...)
	if reset {
		b = append(b, `,"reset":true`...)
	}
	b = append(frame.Int(b, `,"server_time":`, now), `,"set":[`...)
	for _, id := range set {
		b = appendRow(frame.Comma(b), id, &o.rows[id].last)
	}
	b = append(b, ']')
	b = frame.List(b, `,"drop":[`, drop, func(b []byte, id *string) []byte { return frame.Text(b, *id) })
	return socket.Text(append(b, '}'))
}

func appendRow(b []byte, id room.ID, s *summary) []byte {
	b = frame.Text(append(b, `{"room":`...), string(id))
	b = frame.Bool(b, `,"paused":`, s.paused)
	b = append(b, `,"holder":`...)
	if s.held {
		b = frame.Text(b, s.holder)
	} else {
		b = append(b, "null"...)
	}
	b = frame.IntIf(b, `,"expires_at":`, s.expires, s.held)
	b = frame.Int(b, `,"waiting":`, int64(s.waiting))
	b = frame.Int(b, `,"away":`, int64(s.away))
	b = frame.Int(b, `,"oldest":`, s.oldest)
	b = frame.Int(b, `,"handoffs":`, int64(s.handoffs))
	b = append(b, `,"trouble":[`...)
	for i, word := range troubles {
		if s.trouble&(1<<i) != 0 {
			b = frame.Text(frame.Comma(b), word)
		}
	}
	return append(b, "]}"...)
}
