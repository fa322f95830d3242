package templates

import "maps"

// step returns the step of the turn; "" in the other states. Only the browser knows one more, "again".
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

// over reports whether the turn's time is over and its outcome unknown: another seller may have the lock.
func (v RoomView) over() bool {
	ends := v.LeaseExpiresAt
	if v.ClaimBy != 0 {
		ends = min(ends, v.ClaimBy)
	}
	return v.shows("locked") && ends != 0 && ends <= v.ServerTime
}

// stepNumber returns the number of the turn's step: 1 ask, 2 wait for the message, 3 enter the code.
func (v RoomView) stepNumber() int {
	switch v.step() {
	case "asked", "text":
		return 2
	case "code":
		return 3
	}
	return 1
}

// isCurrent marks the turn's current step, also for screen readers.
func (v RoomView) isCurrent(number int) string {
	if v.stepNumber() == number {
		return "step"
	}
	return "false"
}

// busyLeft returns for how many milliseconds the number is still busy.
func (v RoomView) busyLeft() int64 {
	if v.Codes == nil {
		return 0
	}
	return max(v.Codes.AskAfter-v.ServerTime, 0)
}

// early reports whether "done" is pressed before a code is shown; the page then asks first.
func (v RoomView) early() bool { return v.shows("locked") && v.step() != "code" }

// again reports whether the holder has asked before, so that it asks again.
func (v RoomView) again() bool {
	return v.shows("locked") && !v.over() && v.Codes != nil && v.Codes.Asked > 0 && v.busyLeft() == 0
}

// turn returns the notice of the turn: the next step.
func (v RoomView) turn() Notice {
	step := v.step()
	if step == "" {
		step = "ask"
	}
	return v.live().Turn[step]
}

// turnLeft returns what the turn's countdown shows, in milliseconds: the time left to claim the turn, or else
// the rest of the lease.
func (v RoomView) turnLeft() int64 {
	if v.ClaimBy != 0 {
		return max(v.ClaimBy-v.ServerTime, 0)
	}
	return v.left()
}

// hurries is the last part of a turn that is shown as nearly over, in milliseconds; a shorter turn has no
// such part.
const hurries = 30_000

func (v RoomView) hurry() bool {
	return v.shows("locked") && v.step() != "claim" && !v.over() && int64(v.LeaseSeconds)*1000 > hurries &&
		v.left() <= hurries
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

// live returns the texts that the browser uses too, with this room's marketplace and times filled in.
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

// inMarket puts the marketplace's name into notices.
func (v RoomView) inMarket(words map[string]Notice) map[string]Notice {
	words = maps.Clone(words)
	for key, n := range words {
		words[key] = Notice{fill(n.Title, "market", v.market()), fill(n.Lead, "market", v.market())}
	}
	return words
}

// market names the marketplace; with several the seller may choose another one on the page.
func (v RoomView) market() string {
	if len(v.Info.Marketplaces) > 1 {
		return v.text().Page.Market
	}
	return orElse(v.Info.Marketplace.Name, v.text().Page.Market)
}

func (v RoomView) span(seconds int) string { return SpanWords(v.Lang, seconds) }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
