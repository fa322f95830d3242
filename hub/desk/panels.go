package desk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/waitroom/waitroom/room"
)

// The panels to read, as a set.
const (
	readItems = 1 << iota
	readMinutes
	readPause
)

const (
	itemsEvery   = 250 * time.Millisecond // how often messages and incidents are read at the most
	minutesEvery = 2 * time.Second        // and minutes
	// the ledger has a change a moment after us: minutes are read this often after one
	settling      = 2
	readWithin    = 10 * time.Second
	readAgainMost = 5 * time.Second // between attempts
	keepMinutes   = time.Hour + time.Minute
)

// sidePanels is what support sees beside the line, and what of it is to be read. The room's lock guards it.
type sidePanels struct {
	items, minutes, sources, pauses list
	paused                          bool // as of the latest roster
	due                             int  // what is to be read
	settle                          int  // how often minutes are to be read still
	kick                            chan struct{}
}

func newSidePanels() sidePanels {
	return sidePanels{items: list{kind: "items"}, minutes: list{kind: "minutes"},
		sources: list{kind: "sources"},
		pauses:  list{kind: "pause"}, due: readItems | readMinutes, kick: make(chan struct{}, 1)}
}

func (p *sidePanels) ask(what int) {
	p.due |= what
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// observe has messages and incidents read where an event is about them, and minutes where there is something
// to count.
func (p *sidePanels) observe(e *room.Event) {
	if e.Changed {
		p.settle = settling
	}
	if slices.ContainsFunc(e.Notes, func(n room.Note) bool { return n.Desk }) {
		p.ask(readItems)
	}
}

// observePause has a pause looked up where it begins, and forgotten where it is over.
func (p *sidePanels) observePause(paused bool) {
	if p.paused != paused {
		p.paused = paused
		p.ask(readPause)
	}
}

// known are the frames that a new watcher is sent.
func (p *sidePanels) known() (frames [][]byte) {
	for _, l := range []*list{&p.items, &p.minutes, &p.sources, &p.pauses} {
		if l.known {
			frames = append(frames, listFrame(l.kind, true, l.items, nil))
		}
	}
	return frames
}

// list is a list of objects as it was sent.
type list struct {
	kind  string
	known bool
	items []Item
}

// whole takes an answer that is the whole list, and returns the frame to send; nil where nothing changed.
func (l *list) whole(answer []Item) (frame []byte) {
	var drop []string
	there := keyed(answer)
	for _, i := range l.items {
		if _, ok := there[i.Key]; !ok {
			drop = append(drop, i.Key)
		}
	}
	set, first := l.changed(answer), !l.known
	l.items, l.known = answer, true
	return l.frame(first, set, drop)
}

// part takes an answer that leaves out what was before it, in order of their keys, which are unix ms; older
// items than `from` are forgotten.
func (l *list) part(answer []Item, from int64) (frame []byte) {
	set, first, anew := l.changed(answer), !l.known, keyed(answer)
	kept := slices.DeleteFunc(slices.Clone(l.items),
		func(i Item) bool { return i.at() < from || anew[i.Key] != nil })
	l.items, l.known = append(kept, answer...), true
	slices.SortFunc(l.items, func(a, b Item) int { return cmp.Compare(a.at(), b.at()) })
	return l.frame(first, set, nil)
}

// wholeIfAny is whole, save that an empty list is not sent as long as there was none.
func (l *list) wholeIfAny(answer []Item) (frame []byte) {
	if len(answer) == 0 && !l.known {
		return nil
	}
	return l.whole(answer)
}

func (l *list) frame(first bool, set []Item, drop []string) []byte {
	if !first && len(set)+len(drop) == 0 {
		return nil
	}
	return listFrame(l.kind, first, set, drop)
}

// changed are the items that are new or other than before.
func (l *list) changed(answer []Item) (set []Item) {
	before := keyed(l.items)
	for _, i := range answer {
		if !bytes.Equal(before[i.Key], i.JSON) {
			set = append(set, i)
		}
	}
	return set
}

func keyed(items []Item) map[string]json.RawMessage {
	m := make(map[string]json.RawMessage, len(items))
	for _, i := range items {
		m[i.Key] = i.JSON
	}
	return m
}

func (i Item) at() int64 {
	ms, _ := strconv.ParseInt(i.Key, 10, 64)
	return ms
}
