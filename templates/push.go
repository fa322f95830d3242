package templates

// PushWords returns the title and the text of a notification for a seller whose page is closed. The service
// worker puts the time into the text; plain is the text without a time, for a browser that shows the
// notification without the service worker.
func PushWords(lang string, turn, claim bool, name, room string) (words Notice, plain string) {
	t := TextIn(lang)
	words, plain = Notice{t.Live.NotifyTurn.Title, t.Page.PushTurn}, t.Live.NotifyTurn.Lead
	switch {
	case !turn:
		words, plain = t.Page.PushAway, t.Page.PushReturn
	case claim:
		words.Lead = t.Page.PushClaim
	}
	room = orElse(name, room)
	words.Lead = fill(words.Lead, "room", room, "here", t.Page.Here, "time", "{time}")
	return words, room + ": " + plain
}
