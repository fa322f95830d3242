package room

import "context"

var auditVerb = newVerb[auditArgs]("audit")

type auditArgs struct {
	Kind       string // of the record; "" = none: only who watches is told
	Members    string // JSON members of the record
	Alert      bool   // who watches is told that there is something to look at
	Registered int64
	Begins     string // the blank that a room may be begun in place of; "" = none
}

// SupportRoom is the reserved room whose journal keeps what support does in no room: signing in, and out.
const SupportRoom ID = "support"

// Audit journals what a member of support did that changes nothing in the room, such as an export.
func (e *Engine) Audit(ctx context.Context, id ID, by Action) error {
	if by == (Action{}) {
		return nil
	}
	return e.journal(ctx, id, "action", by.members(), false)
}

// Incident journals that something happened that a person should look at. Kind is a word such as message_refused; subject tells one
// from another of its kind; detail says what happened and holds no secret. Support is told.
func (e *Engine) Incident(ctx context.Context, id ID, kind, subject, detail string) error {
	return e.journal(ctx, id, "incident", members(struct {
		Kind    string `json:"action"`
		Subject string `json:"message_id"`
		Detail  string `json:"reason"`
	}{kind, subject, detail}), true)
}

// journal writes a record that is none of the line's. The room is put into the index, so that its journal is drained.
func (e *Engine) journal(ctx context.Context, id ID, kind, rest string, desk bool) error {
	once := requestKey("")
	return e.index.listed(ctx, id, func(l listing) error {
		_, err := e.standing(ctx, auditVerb.with(auditArgs{kind, rest, desk, l.at, l.absence}), id, once)
		return err
	})
}

// Alert tells who watches the room that its messages or incidents are to be looked up again.
func (e *Engine) Alert(ctx context.Context, id ID) error {
	_, err := e.standing(ctx, auditVerb.with(auditArgs{Alert: true}), id, unremembered)
	return err
}
