package templates

// PushWords are what a browser shows when no page is open: that the turn has come, and whether it is to be claimed, or that the place is passed over. {time}
// in them is left to the browser, whose clock and zone a seller reads.
func PushWords(lang string, turn, claim bool, name, room string) Notice {
	t := TextIn(lang)
	words := Notice{t.Live.NotifyTurn.Title, t.Page.PushTurn}
	switch {
	case !turn:
		words = t.Page.PushAway
	case claim:
		words.Lead = t.Page.PushClaim
	}
	words.Lead = fill(words.Lead, "room", orElse(name, room), "here", t.Page.Here, "time", "{time}")
	return words
}
