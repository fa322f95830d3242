package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/support"
)

// records adapts the ledger to package support.
type records struct {
	engine *room.Engine
	ledger *read.Reader
}

// unread converts an error of reading the ledger into the API problem to answer with. It returns nil and the
// error of a cancelled request unchanged.
func unread(err error) error {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, read.ErrCursor):
		return fmt.Errorf("%w: %w", problem.Refusal("invalid_cursor"), err)
	}
	return fmt.Errorf("%w: %w", problem.Refusal("ledger_unavailable"), err)
}

func (r records) History(ctx context.Context, id room.ID, f support.HistoryFilter) (support.History, error) {
	page, err := r.ledger.History(ctx, id, read.Filter(f))
	if err != nil {
		return support.History{}, unread(err)
	}
	h := support.History{Next: support.Word(page.Next)}
	for _, l := range page.Leases {
		h.Leases = append(h.Leases, support.LeaseRow{Epoch: l.Epoch, Fence: l.Fence, Ticket: l.Ticket,
			Seller:    l.Seller,
			GrantedAt: support.When(l.GrantedAt), EndedAt: support.When(l.EndedAt),
			Outcome: support.Word(l.Outcome)})
	}
	for _, p := range page.Places {
		h.Places = append(h.Places, support.PlaceRow{Epoch: p.Epoch, Ticket: p.Ticket, Seller: p.Seller,
			JoinedAt: support.When(p.JoinedAt), EndedAt: support.When(p.EndedAt),
			Outcome: support.Word(p.Outcome)})
	}
	for _, m := range page.Messages {
		h.Messages = append(h.Messages, support.MessageRow{Epoch: m.Epoch, MessageID: m.MessageID,
			Result: support.Word(m.Result),
			Ticket: support.Number(m.Ticket), Fence: support.Number(m.Fence), SentAt: support.When(m.SentAt),
			ReceivedAt: support.When(m.ReceivedAt),
			Reason:     string(m.Reason)})
	}
	for _, a := range page.Actions {
		h.Actions = append(h.Actions, actionRow(a))
	}
	return h, nil
}

// Report sums up the days of a room.
func (r records) Report(ctx context.Context, id room.ID, spans []support.ReportSpan) (days,
	hours []templates.ReportFigures, err error) {
	of := make([]read.ReportSpan, len(spans))
	for i, s := range spans {
		of[i] = read.ReportSpan(s)
	}
	d, h, err := r.ledger.Report(ctx, id, of)
	return reportFigures(d), reportFigures(h), unread(err)
}

func reportFigures(found []read.Day) []templates.ReportFigures {
	list := make([]templates.ReportFigures, len(found))
	for i, f := range found {
		list[i] = templates.ReportFigures{Joined: f.Joined, Completed: f.Outcomes[room.Completed],
			Cancelled: f.Outcomes[room.Cancelled], Expired: f.Outcomes[room.Expired],
			Forced: f.Outcomes[room.Forced], Removed: f.Outcomes[room.Removed],
			Dropped: f.Outcomes[room.Dropped], Lost: f.Outcomes[room.Lost],
			WaitP50: templates.Millis(f.WaitP50), WaitP95: templates.Millis(f.WaitP95),
			HoldP50: templates.Millis(f.HoldP50), Codes: f.Codes,
			CodeDelayP50: templates.Millis(f.CodeDelayP50), CodeDelayP95: templates.Millis(f.CodeDelayP95),
			Ambiguous: f.Ambiguous, Rejected: f.Rejected, Late: f.Late}
	}
	return list
}

func actionRow(a read.ActionRow) support.ActionRow {
	return support.ActionRow{Epoch: a.Epoch, Who: a.Who, Action: a.Action, Reason: a.Reason,
		Ticket: support.Number(a.Ticket),
		Fence:  support.Number(a.Fence), At: support.When(a.At), MessageID: a.MessageID,
		Seller:  support.Word(a.Seller),
		Seconds: support.Number(a.Seconds), From: support.Number(a.From), To: support.Number(a.To),
		Text: a.Text, Until: support.When(a.Until)}
}

// Story returns a seller's timeline, with entries still in the journals.
func (r records) Story(ctx context.Context, f support.StoryFilter) ([]support.StoryEvent, bool, error) {
	pending := []room.ID{f.Room}
	if f.Room == "" {
		var err error
		if pending, err = r.engine.Active(ctx); err != nil {
			return nil, false, err
		}
	}
	rows, err := r.ledger.Story(ctx, read.Story{Seller: f.Seller, Room: f.Room, From: f.From,
		Limit: f.Limit, Pending: pending})
	partial := errors.Is(err, sqldb.ErrAway)
	switch {
	case errors.Is(err, room.ErrStore):
		return nil, false, err
	case err != nil && !partial:
		return nil, false, unread(err)
	}
	events := make([]support.StoryEvent, len(rows))
	for i, row := range rows {
		if events[i], err = storyEvent(row); err != nil {
			return nil, false, err
		}
	}
	return events, partial, nil
}

func storyEvent(r read.TimelineRow) (support.StoryEvent, error) {
	var d schema.Detail
	if err := json.Unmarshal(r.Detail, &d); err != nil {
		return support.StoryEvent{}, fmt.Errorf("read timeline: %w", err)
	}
	return support.StoryEvent{At: support.When(r.At), Room: r.Room, Epoch: r.Epoch,
		Ticket: support.Number(r.Ticket), Fence: support.Number(r.Fence),
		Kind: r.Kind, Outcome: support.Word(d.Outcome), Result: support.Word(d.Result),
		Reason: support.Word(d.Reason), MessageID: support.Word(d.MessageID),
		ExpiresAt: support.When(d.ExpiresAt), Since: support.When(d.Since), Position: d.Position,
		Asks: d.Asks, Who: support.Word(d.Who),
		Action: support.Word(d.Action), Duplicate: d.Duplicate, Times: d.Times}, nil
}

// Sellers finds sellers by a part of their ids.
func (r records) Sellers(ctx context.Context, text string, active []room.ID) (support.FoundSellers, error) {
	found, err := r.ledger.FindSellers(ctx, text, active)
	partial := errors.Is(err, sqldb.ErrAway)
	switch {
	case errors.Is(err, room.ErrStore):
		return support.FoundSellers{}, err
	case err != nil && !partial:
		return support.FoundSellers{}, unread(err)
	}
	all := support.FoundSellers{Exact: found.Exact, Near: found.Near, More: found.More, Partial: partial}
	for _, s := range found.List {
		all.List = append(all.List, templates.FoundSeller{Seller: s.Seller, Room: string(s.Room), At: s.At})
	}
	return all, nil
}

func (r records) Audit(ctx context.Context, f support.AuditFilter) (support.Audit, error) {
	found, next, err := r.ledger.Audit(ctx, read.AuditFilter{Room: f.Room, Who: f.Who, Action: f.Action,
		From: f.From,
		To:   f.To, Limit: f.Limit, Cursor: f.Cursor})
	if err != nil {
		return support.Audit{}, unread(err)
	}
	audit := support.Audit{Next: support.Word(next)}
	for _, a := range found {
		row := support.AuditRow{Room: support.Word(a.Room), Address: support.Word(a.Address),
			ActionRow: actionRow(a.ActionRow)}
		if a.Room == room.SupportRoom {
			row.Room = ""
		}
		audit.Actions = append(audit.Actions, row)
	}
	return audit, nil
}
