package hub

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/waitroom/waitroom/room"
)

// What is asked for beside the line.
const (
	askItems = 1 << iota
	askMinutes
	askPause
)

const (
	itemsEvery   = 250 * time.Millisecond // how often messages and incidents are asked for at the most
	minutesEvery = 2 * time.Second        // and minutes
	settling     = 2                      // the ledger is told of a change a moment after us: minutes are asked for this often after one
	askWithin    = 10 * time.Second
	askAgainMost = 5 * time.Second // between attempts
	keepMinutes  = time.Hour + time.Minute
)

// aside is what support is shown beside the line, and what of it is to be asked for. The hall's lock guards it.
type aside struct {
	items, minutes, sources, pauses list
	paused                          bool // as the room was shown last
	due                             int  // what is to be asked for
	settle                          int  // how often minutes are to be asked for still
	kick                            chan struct{}
}

func newAside() aside {
	return aside{items: list{kind: "items"}, minutes: list{kind: "minutes"}, sources: list{kind: "sources"},
		pauses: list{kind: "pause"}, due: askItems | askMinutes, kick: make(chan struct{}, 1)}
}

func (a *aside) ask(what int) {
	a.due |= what
	select {
	case a.kick <- struct{}{}:
	default:
	}
}

// note takes what an event says of messages and incidents, and that there is something to count.
func (a *aside) note(e *room.Event) {
	if e.Changed {
		a.settle = settling
	}
	if slices.ContainsFunc(e.Notes, func(n room.Note) bool { return n.Desk }) {
		a.ask(askItems)
	}
}

// shown has a pause looked up where it begins, and forgotten where it is over.
func (a *aside) shown(paused bool) {
	if a.paused != paused {
		a.paused = paused
		a.ask(askPause)
	}
}

// known are the frames that show a newcomer what is known.
func (a *aside) known() (frames [][]byte) {
	for _, l := range []*list{&a.items, &a.minutes, &a.sources, &a.pauses} {
		if l.known {
			frames = append(frames, listFrame(l.kind, true, l.items, nil))
		}
	}
	return frames
}

// list is a list of objects as it was told.
type list struct {
	kind  string
	known bool
	items []Item
}

// whole takes an answer that is the whole list, and returns what to tell; nil where nothing changed.
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

// part takes an answer that leaves out what was before it, in order of their keys, which are unix ms; what is older than `from` is forgotten.
func (l *list) part(answer []Item, from int64) (frame []byte) {
	set, first, anew := l.changed(answer), !l.known, keyed(answer)
	kept := slices.DeleteFunc(slices.Clone(l.items), func(i Item) bool { return i.at() < from || anew[i.Key] != nil })
	l.items, l.known = append(kept, answer...), true
	slices.SortFunc(l.items, func(a, b Item) int { return cmp.Compare(a.at(), b.at()) })
	return l.frame(first, set, nil)
}

// wholeIfAny is whole, save that an empty list is not told as long as there was none.
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

// changed are those that are new or other than before.
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
