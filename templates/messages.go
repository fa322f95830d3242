package templates

import "slices"

// current returns the messages of the shown turn, oldest first. After the turn's end late messages are among
// them; before it, late ones belong to an earlier turn.
func (v RoomView) current() []SMSView {
	return v.messages(func(m SMSView) bool { return v.shows("ended") || (v.shows("locked") && !m.Late) })
}

// past returns the late messages of an earlier turn, for a seller who waits or holds again.
func (v RoomView) past() []SMSView {
	return v.messages(func(m SMSView) bool { return v.shows("waiting locked") && m.Late })
}

func (v RoomView) messages(belongs func(SMSView) bool) []SMSView {
	list := slices.DeleteFunc(slices.Clone(v.SMS), func(m SMSView) bool { return !belongs(m) })
	for i := range list {
		if list[i].Unreadable {
			list[i].Text = v.text().Live.Unreadable
		}
	}
	return list
}

// main returns the message to show large: the turn's newest code, else the newest late code, else the newest
// message.
func (v RoomView) main() SMSView {
	var best SMSView
	rank := 0
	for _, m := range v.current() {
		if r := importance(m); r >= rank {
			best, rank = m, r
		}
	}
	return best
}

// toEnter reports whether the shown code ended the seller's turn and has yet to be entered, as far as is
// known.
func (v RoomView) toEnter() bool { return v.completedByCode() && v.Entered != v.main().MessageID }

// entered reports whether the seller has entered the code of a turn that it completed.
func (v RoomView) entered() bool { return v.completedByCode() && v.Entered == v.main().MessageID }

func (v RoomView) completedByCode() bool {
	return v.shows("ended") && v.Outcome == "completed" && v.main().Code != ""
}

// mainFence returns the fence of the main message's lease; without one, this turn's.
func (v RoomView) mainFence() int64 {
	if fence := v.main().Fence; fence != 0 {
		return fence
	}
	return v.Fence
}

func importance(m SMSView) int {
	switch {
	case m.Code == "":
		return 1
	case m.Late:
		return 2
	}
	return 3
}

// others returns the messages beside the main one, newest first.
func (v RoomView) others() []SMSView {
	list, main := v.current(), v.main()
	if i := slices.Index(list, main); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	slices.Reverse(list)
	return list
}

// codeParts returns the large text: the code in groups, or the words without one.
func (v RoomView) codeParts() []string {
	switch {
	case len(v.current()) == 0:
		return []string{v.text().Live.AwaitSMS}
	case v.main().Unreadable:
		return []string{v.text().Live.UnreadableCode}
	case v.main().Code == "":
		return []string{v.text().Live.NoCode}
	default:
		return groups(v.main().Code)
	}
}

// groups splits a code into groups that are easy to read and type; up to five characters stay together.
func groups(code string) []string {
	if len(code) <= 5 {
		return []string{code}
	}
	return []string{code[:len(code)/2], code[len(code)/2:]}
}

// smsTitle names the kind of the main message.
func (v RoomView) smsTitle() string {
	t, main := v.text().Live, v.main()
	switch {
	case main.Late:
		return t.LateTitle
	case len(v.current()) > 0 && main.Code == "":
		return t.TextTitle
	default:
		return t.CodeTitle
	}
}

// offer returns the oldest offered message, about which the page asks.
func (v RoomView) offer() OfferView {
	if !v.shows("locked") || len(v.Offers) == 0 {
		return OfferView{}
	}
	return v.Offers[0]
}
