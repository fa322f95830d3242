package templates

import "slices"

// deskActions are what support does, in the order in which the audit offers to look for it.
var deskActions = []string{
	"extend", "release", "move", "remove", "pause", "resume", "assign",
	"exported", "exported_audit", "delivery_retried",
	"signed_in", "signed_out", "sign_in_failed", "sign_in_limited", "sign_in_refused",
}

// actions are what may be looked for; what is looked for is among them, whatever it is.
func (v AuditView) actions() []string {
	if v.Action == "" || slices.Contains(deskActions, v.Action) {
		return deskActions
	}
	return append(slices.Clone(deskActions), v.Action)
}

// DeskAction is what support did, as the audit calls it; a code that has no words stands for itself.
func (t Text) DeskAction(code string) string {
	if words, ok := t.Desk.Actions[code]; ok {
		return words
	}
	return code
}

// done says what an action was beyond its name; "" where there is nothing to say.
func (t Text) done(d ActionDetail) string {
	var seconds, moved, message string
	if d.Seconds != 0 {
		seconds = fill(t.Desk.Audit.Seconds, "n", d.Seconds)
	}
	if d.To != 0 {
		moved = fill(t.Desk.Audit.Moved, "from", d.From, "to", d.To)
	}
	if d.MessageID != "" {
		message = fill(t.Desk.Story.Message, "id", d.MessageID)
	}
	return parts(t.Desk.Story.Sep, seconds, moved, message)
}
