package templates

import "maps"

// step is where my turn is; empty in the other states. The browser knows one more, "again".
func (v RoomView) step() string {
	switch {
	case !v.shows("locked"):
		return ""
	case v.over():
		return "over"
	case v.ClaimBy != 0:
		return "claim"
	case v.main().Code != "":
		return "code"
	case v.busyLeft() > 0:
		return "busy"
	case v.Codes == nil || v.Codes.Asked == 0:
		return "ask"
	case len(v.current()) > 0:
		return "text"
	default:
		return "asked"
	}
}

// over reports whether my turn has run out, though nobody has told how it ended: it is another's by now, for all that is known.
func (v RoomView) over() bool {
	ends := v.LeaseExpiresAt
	if v.ClaimBy != 0 {
		ends = min(ends, v.ClaimBy)
	}
	return v.shows("locked") && ends != 0 && ends <= v.ServerTime
}

// stepNumber is which of the three steps of a turn the step is in: to ask, to wait for the text, to enter the code.
func (v RoomView) stepNumber() int {
	switch v.step() {
	case "asked", "text":
		return 2
	case "code":
		return 3
	}
	return 1
}

// isCurrent marks the step that the turn is in, for screen readers too.
func (v RoomView) isCurrent(number int) string {
	if v.stepNumber() == number {
		return "step"
	}
	return "false"
}

// busyLeft is for how many milliseconds the number is busy still.
func (v RoomView) busyLeft() int64 {
	if v.Codes == nil {
		return 0
	}
	return max(v.Codes.AskAfter-v.ServerTime, 0)
}

// early reports whether it is early to be done: no code is on show, so that is asked about first.
func (v RoomView) early() bool { return v.shows("locked") && v.step() != "code" }

// again reports whether the holder has asked before, so that it asks again.
func (v RoomView) again() bool {
	return v.shows("locked") && !v.over() && v.Codes != nil && v.Codes.Asked > 0 && v.busyLeft() == 0
}

// turn is what is said of my turn: what to do next.
func (v RoomView) turn() Notice {
	step := v.step()
	if step == "" {
		step = "ask"
	}
	return v.live().Turn[step]
}

// turnLeft is what the countdown of my turn shows, in milliseconds: until when to answer, else what the lease has left.
func (v RoomView) turnLeft() int64 {
	if v.ClaimBy != 0 {
		return max(v.ClaimBy-v.ServerTime, 0)
	}
	return v.left()
}

// hurries is how much of a turn is told to be nearly over, in milliseconds; shorter turns are not.
const hurries = 30_000

func (v RoomView) hurry() bool {
	return v.shows("locked") && v.step() != "claim" && !v.over() && int64(v.LeaseSeconds)*1000 > hurries && v.left() <= hurries
}

func (v RoomView) leftLabel() string {
	t := v.text()
	switch {
	case v.step() == "claim":
		return t.Live.AnswerIn
	case v.over():
		return t.Live.TimeIsUp
	case v.step() == "busy":
		return t.Live.AskIn
	case v.hurry():
		return t.Live.NearlyOver
	}
	return t.Page.TimeLeft
}

// live are the words that the browser says too, with the marketplace and the times of this room in them.
func (v RoomView) live() LiveText {
	t := v.text().Live
	there := v.inMarket(t.Turn)
	if v.Info.Marketplace.URL != "" {
		there["ask"] = there["ask_there"]
	}
	delete(there, "ask_there")
	t.Turn, t.Outcomes = there, v.inMarket(t.Outcomes)
	t.TryCode = fill(t.TryCode, "market", v.market())
	t.CodeArrived.Lead = fill(t.CodeArrived.Lead, "market", v.market())
	if v.DropSeconds > 0 {
		dropped := t.Outcomes["dropped"]
		dropped.Lead = sentences(dropped.Lead, fill(v.text().Page.KeptFor, "drop", v.span(v.DropSeconds)))
		t.Outcomes["dropped"] = dropped
	}
	return t
}

// inMarket puts the marketplace's name into what is said.
func (v RoomView) inMarket(said map[string]Notice) map[string]Notice {
	said = maps.Clone(said)
	for key, n := range said {
		said[key] = Notice{fill(n.Title, "market", v.market()), fill(n.Lead, "market", v.market())}
	}
	return said
}

func (v RoomView) market() string { return orElse(v.Info.Marketplace.Name, v.text().Page.Market) }

func (v RoomView) name() string { return orElse(v.Info.Name, v.text().Live.Brand) }

func (v RoomView) span(seconds int) string { return SpanWords(v.Lang, seconds) }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
