package templates

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/waitroom/waitroom/room/wire"
)

// marks returns the body's attributes of the state, for style sheets and scripts.
func (v RoomView) marks() templ.Attributes {
	return templ.Attributes{
		"data-state":      v.State,
		"data-step":       v.step(),
		"data-next":       boolWord(v.next()),
		"data-missed":     boolWord(v.missed()),
		"data-hurry":      boolWord(v.hurry()),
		"data-paused":     boolWord(v.Paused),
		"data-closed":     boolWord(v.closed()),
		"data-code":       boolWord(v.hasCode()),
		"data-entered":    boolWord(v.entered()),
		"data-messages":   boolWord(len(v.current()) > 0),
		"data-offer":      boolWord(v.shows("locked") && v.offer().MessageID != ""),
		"data-ending":     v.kindOfEnding(),
		"data-return":     boolWord(v.Info.ReturnURL != ""),
		"data-connection": "off",
	}
}

// announced returns support's announcement; the zero Notice if there is none.
func (v RoomView) announced() (n wire.Notice) {
	if v.Notice != nil {
		n = *v.Notice
	}
	return n
}

// closed reports whether a seller without a place can not join, since the room is closed.
func (v RoomView) closed() bool { return v.OpensAt != 0 && v.shows("idle ended") }

// opensWords returns when the room opens; "" while it is open.
func (v RoomView) opensWords() string {
	if v.OpensAt == 0 {
		return ""
	}
	zone := cmp.Or(v.Info.Zone, korea)
	return OpensWords(v.Lang, time.UnixMilli(v.OpensAt).In(zone), time.UnixMilli(v.ServerTime).In(zone))
}

// kindOfEnding returns which sign belongs to an ending, as in view.js; "" in the other states.
func (v RoomView) kindOfEnding() string {
	switch {
	case !v.shows("ended"):
		return ""
	case v.Outcome == "completed" && !v.gone():
		return "done"
	case v.Outcome == "expired", v.Outcome == "dropped":
		return "time"
	case v.Outcome == "cancelled":
		return "left"
	}
	return "note"
}

// hasCode reports whether a code is shown, which the seller has to enter first.
func (v RoomView) hasCode() bool { return v.shows("locked ended") && v.main().Code != "" }

// missed reports whether the seller missed the turn.
func (v RoomView) missed() bool { return v.shows("waiting") && v.Unclaimed }

// missedLead explains the result: another seller's turn, where the lock is held.
func (v RoomView) missedLead() string {
	if v.LeaseExpiresAt == 0 {
		return v.live().MissedFree
	}
	return v.live().MissedHeld
}

// missedRule explains how long the place of a missed turn is kept in this room, and what a second missed turn
// does.
func (v RoomView) missedRule() string {
	t := v.text().Page.Missed
	if v.DropSeconds == 0 {
		return t.Again
	}
	return sentences(fill(t.Kept, "drop", v.span(v.DropSeconds)), t.Again)
}

// lineWords describe the line to a seller who has not joined.
func (v RoomView) lineWords() string {
	t := v.text().Live
	switch {
	case v.QueueLength > 0:
		return fill(t.LineWaiting, "n", v.QueueLength)
	case v.held():
		return t.LineHeld
	case v.EstimatedWait == nil:
		return t.LineEmpty
	default:
		return t.LineFree
	}
}

// newcomerWords describe when the turn of a seller who joins now would come.
func (v RoomView) newcomerWords() string {
	t, expected := v.text().Live, v.expected()
	switch {
	case expected == nil:
		return t.NoWaitYet
	case !v.held() && v.QueueLength == 0:
		return t.StartNow
	case *expected <= soon:
		return t.JoinSoon
	case *expected < 60:
		return t.JoinUnder
	default:
		return fill(t.JoinAbout, "wait", estimate(t, *expected))
	}
}

// unitWords returns what stands behind the position's number.
func (v RoomView) unitWords() string {
	return strings.TrimPrefix(PlaceWords(v.Lang, v.QueuePosition), number(v.QueuePosition))
}

func (v RoomView) aheadWords() string { return AheadWords(v.Lang, v.QueuePosition) }

func (v RoomView) waitWords() string {
	words, _ := waitParts(v.text().Live, v.expected(), v.MaximumWait, v.usual())
	return words
}

func (v RoomView) latestWords() string {
	_, latest := waitParts(v.text().Live, v.expected(), v.MaximumWait, v.usual())
	return latest
}

// usual returns what the page knows of turns; behind all is a newcomer's position.
func (v RoomView) usual() Usual {
	u := Usual{Position: v.QueuePosition, Spread: v.SpreadSeconds,
		Held: v.LeaseExpiresAt > 0, Left: float64(v.left()) / 1000,
		Hold: v.HoldSeconds, Lease: float64(v.LeaseSeconds), Holds: v.Holds}
	if u.Position == 0 {
		u.Position = v.QueueLength + 1
	}
	return u
}

// expected returns the wait that the page shows, in seconds.
func (v RoomView) expected() *int {
	if v.EstimatedWait == nil || v.MaximumWait == nil {
		return v.EstimatedWait
	}
	return new(int(math.Ceil(v.usual().Expected(float64(*v.EstimatedWait), float64(*v.MaximumWait)))))
}

// clockless is a wait, in seconds, from which on a time of day would not say which day it is.
const clockless = 12 * 60 * 60

// whenWords returns the approximate time of day of the turn. A wait below a minute needs none, and a wait at
// the maximum has none.
func (v RoomView) whenWords() string {
	expected := v.expected()
	if expected == nil || v.latestWords() == "" || *expected < 60 || *expected >= clockless {
		return ""
	}
	at := time.UnixMilli(v.ServerTime).Add(time.Duration(*expected) * time.Second).In(korea)
	return WhenWords(v.Lang, at.Hour(), at.Minute())
}

// keepWords explains what happens to the place of a closed page, with this room's numbers.
func (v RoomView) keepWords() string {
	t := v.text().Page
	words := fill(t.KeepOpen, "lease", v.lease())
	if v.AwaySeconds > 0 && v.DropSeconds > 0 {
		words = fill(t.KeepDrop, "away", v.span(v.AwaySeconds), "drop", v.span(v.DropSeconds))
	}
	if v.ClaimSeconds > 0 {
		words = sentences(words, fill(t.KeepClaim, "claim", v.span(v.ClaimSeconds)))
	}
	return words
}

// keepScriptless explains the same for a page without a script, which opens no socket. A seller without a
// socket is never away and need not claim.
func (v RoomView) keepScriptless() string {
	return fill(v.text().Page.KeepScriptless, "lease", v.lease())
}

// keptWords explains how long a place is kept while its page has no connection, with this room's number.
func (v RoomView) keptWords() string {
	t := v.text().Page
	if v.DropSeconds == 0 {
		return t.LostWaiting
	}
	return fill(t.LostDrop, "drop", v.span(v.DropSeconds))
}

func (v RoomView) joined() int { return max(v.JoinedPosition, v.QueuePosition, 1) }

// passed returns how far the seller has come since joining: by ended places, and by support's moves.
func (v RoomView) passed() int { return v.joined() - max(v.QueuePosition, 1) }

func (v RoomView) passedWords() string {
	if v.passed() == 0 {
		return v.text().Live.Started
	}
	return fill(v.text().Live.Passed, "n", v.passed())
}

// leftOfTurn returns how much of the turn, or of the time to claim it, is left, in hundredths.
func (v RoomView) leftOfTurn() string {
	whole := v.LeaseSeconds
	if v.step() == "claim" {
		whole = v.ClaimSeconds
	}
	return number(int(100 * v.turnLeft() / max(int64(whole)*1000, v.turnLeft(), 1)))
}

func (v RoomView) lease() string { return v.span(v.LeaseSeconds) }

// known reports whether a returning seller is known, so that the form need not ask who it is.
func (v RoomView) known() bool { return v.shows("ended") && v.SellerID != "" && !v.ErrorOfSeller }

// telephone returns the link that calls a number.
func telephone(number string) templ.SafeURL {
	return templ.SafeURL("tel:" + strings.Map(func(r rune) rune {
		if r == '+' || (r >= '0' && r <= '9') {
			return r
		}
		return -1
	}, number))
}

// reachState returns whether the portal will send a message when the turn is near.
func (v RoomView) reachState() string {
	if v.WantsReach {
		return v.text().Live.TurnedOn
	}
	return v.text().Live.TurnedOff
}
