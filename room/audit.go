package room

import (
	"context"

	"github.com/waitroom/waitroom/room/wire"
)

var auditVerb = newVerb[auditArgs]("audit")

type auditArgs struct {
	Kind    string // of the record; "" = no record, only an event for support's pages
	Members string // JSON members of the record
	Alert   bool   // support's pages get an event: messages or incidents changed
}

// SupportRoom is the reserved room whose journal has support's actions outside rooms: signing in and out.
const SupportRoom = wire.SupportRoom

// Audit journals an action of support that changes nothing in the room, such as an export. Error: ErrStore.
func (e *Engine) Audit(ctx context.Context, id ID, by Action) error {
	if by == (Action{}) {
		return nil
	}
	return e.journal(ctx, id, "action", by.members(), false)
}

// Incident journals an event that a person should look at, and notifies support's pages.
//
// Kind is a word such as message_refused, subject distinguishes incidents of one kind, and detail describes
// the incident without secrets. Error: ErrStore.
func (e *Engine) Incident(ctx context.Context, id ID, kind, subject, detail string) error {
	return e.journal(ctx, id, "incident", members(struct {
		Kind    string `json:"action"`
		Subject string `json:"who"` // it is no message's id
		Detail  string `json:"reason"`
	}{kind, subject, detail}), true)
}

// journal writes a record that concerns no place. The room is put into the index, so that the ledger drains
// its journal.
func (e *Engine) journal(ctx context.Context, id ID, kind, rest string, desk bool) error {
	_, err := e.listed(ctx, id, auditVerb.with(auditArgs{kind, rest, desk}).keptIn(requestKey("")))
	return err
}

// Alert makes support's pages load the room's messages and incidents again. Error: ErrStore.
func (e *Engine) Alert(ctx context.Context, id ID) error {
	_, err := e.standing(ctx, auditVerb.with(auditArgs{Alert: true}), id)
	return err
}
