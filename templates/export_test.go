package templates

// Stamp formats a time as support's pages do.
var Stamp = stamp

// DeskActions are the filters of the audit.
var DeskActions = deskActions

// EstimateWords returns a wait in everyday words: "약 3분".
func EstimateWords(lang string, seconds int) string { return estimate(TextIn(lang).Live, seconds) }

// WaitSentence returns when the turn comes and by when at the latest. Without both times, as in a paused
// room, it returns that there are none.
func WaitSentence(lang string, estimated, maximum *int, usual Usual) string {
	t := TextIn(lang).Live
	words, latest := waitParts(t, estimated, maximum, usual)
	if latest == "" {
		return words
	}
	return fill(t.WaitBoth, "wait", words, "max", latest)
}
