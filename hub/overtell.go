package hub

import (
	"slices"
	"time"

	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
)

// rowsTogether is how many rooms are in one frame at the most.
const rowsTogether = 500

// tell tells what changed of all rooms, also by time alone; true while there are rooms that were not looked at yet.
func (o *overview) tell() (more bool) {
	now := o.h.clock.MS()
	o.mu.Lock()
	defer o.mu.Unlock()
	var set []room.ID
	var drop []string
	for id, r := range o.rows {
		switch {
		case r.gone:
			delete(o.rows, id)
			if r.told {
				drop = append(drop, string(id))
			}
		case !r.known:
			more = true
		default:
			if s := r.at(now); s != r.shown || !r.told {
				r.shown, r.told = s, true
				set = append(set, id)
			}
		}
	}
	switch {
	case !o.ready && (len(set) > 0 || o.listed && len(o.dirty) == 0):
		o.ready = true
		o.feed.markAll() // all there is, is shown to everybody who waits for it
	case o.ready && len(set)+len(drop) > 0:
		slices.Sort(set)
		slices.Sort(drop)
		for _, frame := range o.frames(false, set, drop, now) {
			o.feed.tell(frame)
		}
	}
	return more
}

// frames shows rooms, in as many frames as it takes; the first one resets and drops.
func (o *overview) frames(reset bool, set []room.ID, drop []string, now int64) (frames [][]byte) {
	for first := true; first || len(set) > 0; first = false {
		n := min(len(set), rowsTogether)
		frames = append(frames, o.roomsFrame(reset && first, set[:n], drop, now))
		set, drop = set[n:], nil
	}
	return frames
}

// opening shows all rooms. It is made once for all who come within a moment.
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
			if r.told {
				all = append(all, id)
			}
		}
		slices.Sort(all)
		o.opened, o.until = opening{o.frames(true, all, nil, o.h.clock.MS()), o.feed.end()}, time.Now().Add(openingFor)
	}
	return o.opened, true
}

func (o *overview) roomsFrame(reset bool, set []room.ID, drop []string, now int64) []byte {
	b := append(socket.Blank(256+192*len(set)), `{"type":"rooms"`...)
	if reset {
		b = append(b, `,"reset":true`...)
	}
	b = append(appendInt(b, `,"server_time":`, now), `,"set":[`...)
	for _, id := range set {
		b = appendRow(comma(b), id, &o.rows[id].shown)
	}
	b = append(b, ']')
	b = appendList(b, `,"drop":[`, drop, func(b []byte, id *string) []byte { return appendString(b, *id) })
	return socket.Text(append(b, '}'))
}

func appendRow(b []byte, id room.ID, s *shown) []byte {
	b = appendString(append(b, `{"room":`...), string(id))
	b = appendBool(b, `,"paused":`, s.paused)
	b = append(b, `,"holder":`...)
	if s.held {
		b = appendString(b, s.holder)
	} else {
		b = append(b, "null"...)
	}
	b = appendIf(b, `,"expires_at":`, s.expires, s.held)
	b = appendInt(b, `,"waiting":`, int64(s.waiting))
	b = appendInt(b, `,"away":`, int64(s.away))
	b = appendInt(b, `,"oldest":`, s.oldest)
	b = appendInt(b, `,"handoffs":`, int64(s.handoffs))
	b = append(b, `,"trouble":[`...)
	for i, word := range troubles {
		if s.trouble&(1<<i) != 0 {
			b = appendString(comma(b), word)
		}
	}
	return append(b, "]}"...)
}
