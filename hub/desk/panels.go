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
	// how often minutes are read after a change, since the ledger has the change a little later
	settling      = 2
	readWithin    = 10 * time.Second
	readAgainMost = 5 * time.Second // between attempts
	keepMinutes   = time.Hour + time.Minute
)

// sidePanels has the panels beside the line, and which of them are due to be read. The room's lock guards it.
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

// observe makes messages and incidents due if an event is about them, and minutes if it changes a count.
func (p *sidePanels) observe(e *room.Event) {
	if e.Changed {
		p.settle = settling
	}
	if slices.ContainsFunc(e.Notes, func(n room.Note) bool { return n.Desk }) {
		p.ask(readItems)
	}
}

// observePause makes the pause due when it begins or ends. A read after its end returns none, which drops it.
func (p *sidePanels) observePause(paused bool) {
	if p.paused != paused {
		p.paused = paused
		p.ask(readPause)
	}
}

// known returns the frames with the panels for a new watcher.
func (p *sidePanels) known() (frames [][]byte) {
	for _, l := range []*list{&p.items, &p.minutes, &p.sources, &p.pauses} {
		if l.known {
			frames = append(frames, listFrame(l.kind, true, l.items, nil))
		}
	}
	return frames
}

// list is a list of objects in the state that was sent last.
type list struct {
	kind  string
	known bool
	items []Item
}

// whole compares an answer with the whole list, and returns the frame to send; nil if nothing has changed.
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

// part compares an answer that has only the latest part of the list, ordered by keys in unix ms. It drops
// items older than `from`.
func (l *list) part(answer []Item, from int64) (frame []byte) {
	set, first, anew := l.changed(answer), !l.known, keyed(answer)
	kept := slices.DeleteFunc(slices.Clone(l.items),
		func(i Item) bool { return i.at() < from || anew[i.Key] != nil })
	l.items, l.known = append(kept, answer...), true
	slices.SortFunc(l.items, func(a, b Item) int { return cmp.Compare(a.at(), b.at()) })
	return l.frame(first, set, nil)
}

// wholeIfAny is whole, but does not send an empty list if there was none before.
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

// changed returns the items that are new or have changed.
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
