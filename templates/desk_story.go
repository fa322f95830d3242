package templates

import (
	"cmp"
	"slices"
)

// Tale is a seller's timeline in words: the outcome of the latest visit, and all visits, the latest first.
type Tale struct {
	Answer Words // empty where there is no visit
	Open   bool  // the latest visit goes on
	Visits []Visit
}

// Visit is the events of one place in a room, the earliest first.
type Visit struct {
	Room   string
	Ticket int64 // 0: events without a place
	From   int64 // unix ms
	To     int64 // unix ms; 0 = it goes on
	State  string
	Lines  []Line
}

// Line is one event.
type Line struct {
	At   int64 // unix ms
	Kind string
	Tone string // good, warn or bad, where it is worth a colour; it is in the words too
	Text Words
	Note Words // small beside it
}

// Story returns a seller's events as sentences that can be read out on the telephone.
func Story(events []StoryEvent, lang string) Tale {
	t := narrator{TextIn(lang)}
	var tale Tale
	for n, v := range visits(events) {
		visit, c := t.visit(v)
		tale.Visits = append(tale.Visits, visit)
		if n == 0 && visit.Ticket != 0 {
			tale.Answer, tale.Open = t.answer(c), c.over == 0
		}
	}
	return tale
}

func (t narrator) visit(events []StoryEvent) (Visit, course) {
	first := events[0]
	v := Visit{Room: first.Room, Ticket: first.Ticket, From: first.At}
	var c course
	for n, e := range events {
		if !shownBelow(e, events[n+1:]) {
			v.Lines = append(v.Lines, t.line(e, c))
		}
		c = c.after(e)
	}
	v.State, v.To = c.state, c.over
	if v.Ticket == 0 {
		v.State, v.To = "", events[len(events)-1].At
	}
	return v, c
}

func (t narrator) line(e StoryEvent, c course) Line {
	line := Line{At: e.At, Kind: e.Kind, Tone: tone(e), Text: t.sentence(e, c)}
	if e.MessageID != "" {
		line.Note = wordsOf(t.Desk.Story.Message, "id", verbatim(e.MessageID))
	}
	return line
}

// shownBelow reports whether an action needs no line, since a following line has its result.
func shownBelow(e StoryEvent, following []StoryEvent) bool {
	return e.Kind == "action" && slices.ContainsFunc(following, course{done: e}.acted)
}

// place is the identity of a visit.
type place struct {
	room          string
	epoch, ticket int64
}

// visits groups events by place: the place that began last is first, and events without a place come last.
func visits(events []StoryEvent) [][]StoryEvent {
	events = inOrder(events)
	of := map[place]int{}
	var list [][]StoryEvent
	for _, e := range events {
		key := place{e.Room, e.Epoch, e.Ticket}
		n, found := of[key]
		if !found {
			n = len(list)
			of[key], list = n, append(list, nil)
		}
		list[n] = append(list[n], e)
	}
	slices.SortStableFunc(list, func(a, b []StoryEvent) int {
		return cmp.Or(cmp.Compare(min(b[0].Ticket, 1), min(a[0].Ticket, 1)), cmp.Compare(b[0].At, a[0].At),
			cmp.Compare(b[0].Ticket, a[0].Ticket))
	})
	return list
}

// inOrder sorts events by time, support's action before its result, and finds the ticket of
// those that name a lease alone.
func inOrder(events []StoryEvent) []StoryEvent {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b StoryEvent) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(before(a), before(b)))
	})
	leases, epochs := map[place]place{}, map[place]int64{}
	for _, e := range events {
		if e.Ticket == 0 || e.Epoch == 0 {
			continue
		}
		leases[place{room: e.Room, ticket: e.Fence}] = place{e.Room, e.Epoch, e.Ticket}
		epochs[place{room: e.Room, ticket: e.Ticket}] = e.Epoch
	}
	for n := range events {
		e := &events[n]
		if at, found := leases[place{room: e.Room, ticket: e.Fence}]; found && e.Fence != 0 {
			e.Epoch, e.Ticket = at.epoch, at.ticket
		}
		if e.Epoch == 0 || e.Ticket == 0 {
			e.Epoch = epochs[place{room: e.Room, ticket: e.Ticket}]
		}
	}
	return events
}

func before(e StoryEvent) int {
	if e.Kind == "action" {
		return 0
	}
	return 1
}

// tone returns the colour of an event; red is for what a person should look at.
func tone(e StoryEvent) string {
	switch {
	case e.Kind == "incident", e.Outcome == "lost":
		return "bad"
	case e.Kind == "granted", e.Outcome == "completed":
		return "good"
	case e.Kind == "away", e.Kind == "ended", e.Result == "late", e.Result == "unmatched", e.Kind == "rejected":
		return "warn"
	}
	return ""
}
