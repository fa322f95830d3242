package templates

import "cmp"

// narrator writes the sentences of a timeline.
type narrator struct{ Text }

// sentence returns the sentence of one event, after the earlier ones.
func (t narrator) sentence(e StoryEvent, c course) Words {
	s := t.Desk.Story
	switch e.Kind {
	case "joined":
		return wordsOf(s.Joined, "n", e.Ticket)
	case "granted":
		return t.with(wordsOf(s.Granted, "until", instant(e.ExpiresAt)), s.Waited, e.At-c.joined, c.joined)
	case "asked":
		if n := max(e.Asks, c.asks+1); n > 1 {
			return wordsOf(s.AskedAgain, "n", n)
		}
		return wordsOf(s.Asked)
	case "extended":
		if c.by("extend", e.At) {
			return t.done(s.ExtendedBy, e, c, "until", instant(e.ExpiresAt))
		}
		return wordsOf(s.ExtendedBusy, "until", instant(e.ExpiresAt))
	case "away":
		return t.join(wordsOf(s.Away), wordsOf(s.Gone, "since", instant(e.gone())))
	case "back":
		if c.since == 0 {
			return wordsOf(s.Back)
		}
		return wordsOf(s.BackAfter, "span", t.span(e.At-c.since))
	case "moved":
		return t.done(s.Moved, e, c, "n", e.Position)
	case "ended":
		return t.ended(e, c)
	case "action":
		return t.did(e)
	}
	return t.beside(e, c)
}

// beside returns the sentence of an event that does not change the line: a message, an incident, a webhook.
func (t narrator) beside(e StoryEvent, c course) Words {
	s := t.Desk.Story
	switch e.Kind {
	case "message":
		return t.message(e)
	case "claimed":
		return wordsOf(s.Claimed)
	case "rejected":
		return wordsOf(s.Rejected)
	case "assigned":
		return t.done(s.Assigned, e, c)
	case "incident":
		return wordsOf(word(s.Incidents, e.Action), "kind", e.Action)
	case "refused":
		return wordsOf(s.Refused, "n", e.Times)
	case "near":
		return wordsOf(s.Near, "n", e.Position)
	case "told":
		return wordsOf(s.Told, "what", cmp.Or(t.Desk.Events[e.Action], e.Action))
	}
	return wordsOf(s.Unknown, "kind", e.Kind)
}

func (t narrator) message(e StoryEvent) Words {
	s := t.Desk.Story
	words := wordsOf(word(s.Unmatched, e.Reason))
	switch e.Result {
	case "matched":
		words = wordsOf(s.Matched)
	case "late":
		words = wordsOf(s.Late)
	}
	if e.Duplicate {
		return t.join(words, wordsOf(s.Duplicate))
	}
	return words
}

// ended returns how a turn ended, or a wait, and how long it was.
func (t narrator) ended(e StoryEvent, c course) Words {
	s := t.Desk.Story
	if s.waited(e, c) {
		return t.with(t.done(word(s.Left, e.Outcome), e, c, "outcome", e.Outcome), s.AwayFor, e.At-c.since, c.since)
	}
	pattern, more, span := word(s.Ended, e.Outcome), s.Used, e.At-c.granted
	switch {
	case e.Outcome == "expired":
		more, span = s.Given, c.until-c.granted
	case e.Outcome == "forced" && !c.by("release", e.At):
		pattern = s.ForcedByHand
	}
	return t.with(t.done(pattern, e, c, "outcome", e.Outcome), more, span, c.granted)
}

// waited reports whether what ended was a wait, not a turn. If the earlier events do not show it, the outcome
// does.
func (s DeskStoryText) waited(e StoryEvent, c course) bool {
	if e.Fence != 0 || c.state == "holding" {
		return false
	}
	_, wait := s.Left[e.Outcome]
	_, turn := s.Ended[e.Outcome]
	return wait || !turn
}

// did returns an action of support, and its reason.
func (t narrator) did(e StoryEvent) Words {
	return t.because(wordsOf(word(t.Desk.Story.Did, e.Action), "who", t.agent(e.Who), "action", e.Action), e)
}

// done returns the result of support's action, by whom, and why, where that is known.
func (t narrator) done(pattern string, e StoryEvent, c course, pairs ...any) Words {
	by := e
	if c.acted(e) {
		by = c.done
	}
	return t.because(wordsOf(pattern, append(pairs, "who", t.agent(by.Who))...), by)
}

func (t narrator) agent(who string) string {
	if who == "" {
		return t.Desk.Story.Support
	}
	return fill(t.Desk.Story.Agent, "who", who)
}

func (t narrator) because(words Words, e StoryEvent) Words {
	if e.Why == "" {
		return words
	}
	return t.join(words, wordsOf(t.Desk.Story.Because, "why", e.Why))
}

// answer returns the outcome of a visit and, if its time ran out, the reason.
func (t narrator) answer(c course) Words {
	s := t.Desk.Story
	pattern, by := word(s.Answers, c.state), StoryEvent{}
	switch {
	case c.by("release", c.over) || c.by("remove", c.over):
		by = c.done
	case c.state == "forced":
		pattern = s.AnswerByHand
	case c.state == "cancelled" && c.granted != 0:
		pattern = s.AnswerTurn
	}
	words := wordsOf(pattern, "span", t.span(c.until-c.granted), "until", instant(c.until), "who",
		t.agent(by.Who))
	if c.state == "expired" {
		return t.join(words, wordsOf(t.lacked(c)))
	}
	if c.state == "rejected" && c.late && !c.refused {
		return t.join(words, wordsOf(s.MessageLate))
	}
	return t.because(words, by)
}

// lacked returns what a turn that timed out was missing.
func (t narrator) lacked(c course) string {
	s := t.Desk.Story
	switch {
	case c.refused:
		return s.MessageRefused
	case c.matched:
		return s.MessageInTime
	case c.late:
		return s.MessageLate
	case c.asks == 0:
		return s.NeverAsked
	}
	return s.NoMessage
}

// with adds a duration if its beginning is known and it is at least a second.
func (t narrator) with(words Words, pattern string, ms, began int64) Words {
	if began == 0 || ms < 1000 {
		return words
	}
	return t.join(words, wordsOf(pattern, "span", t.span(ms)))
}

// span returns a length of time: to the second below an hour, to the minute from there on.
func (t narrator) span(ms int64) string {
	seconds := int(max(ms, 0)+500) / 1000
	if seconds < 60*60 {
		return span(t.Live, seconds)
	}
	return hours(seconds/60, t.Live.Hours, t.Live.HoursMin)
}

// word returns the word for a code, or the one for every other.
func word(of map[string]string, code string) string {
	return cmp.Or(of[code], of[""])
}
