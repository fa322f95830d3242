package templates

import (
	"slices"

	"github.com/waitroom/waitroom/ledger/history"
)

// deskActions are support's actions, in the order in which the audit offers them as filters.
var deskActions = []string{
	"extend", "release", "move", "remove", "restore", "pause", "resume", "assign",
	"announce", "withdrew", "open", "close",
	"exported", "exported_report", "exported_audit", "looked", "erased", "delivery_retried",
	"signed_in", "signed_out", "sign_in_failed", "sign_in_limited", "sign_in_refused", "sign_in_ended",
}

// actions returns the filters to offer; the present one is among them, even if unknown.
func (v AuditView) actions() []string {
	if v.Action == "" || slices.Contains(deskActions, v.Action) {
		return deskActions
	}
	return append(slices.Clone(deskActions), v.Action)
}

// DeskAction returns the audit's name of an action; the code itself if it has no name.
func (t Text) DeskAction(code string) string {
	if words, ok := t.Desk.Actions[code]; ok {
		return words
	}
	return code
}

// done returns an action's details beyond its name, if there are any.
func (t Text) done(d history.Action) Words {
	var seconds, moved, message, text, until string
	if d.Seconds != 0 {
		seconds = fill(t.Desk.Audit.Seconds, "n", int64(d.Seconds))
	}
	if d.To != 0 {
		moved = fill(t.Desk.Audit.Moved, "from", int64(d.From), "to", int64(d.To))
	}
	if d.MessageID != "" {
		message = t.Desk.Story.Message
	}
	if d.Text != "" {
		text = "{text}"
	}
	if d.Until != 0 {
		until = t.Desk.Audit.Until
	}
	return wordsOf(parts(t.Desk.Story.Sep, seconds, moved, message, text, until), "id", verbatim(d.MessageID),
		"text", verbatim(d.Text), "time", instant(d.Until))
}
