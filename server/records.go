package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web"
)

// records puts the ledger's rows into the web's words.
type records struct {
	engine *room.Engine
	ledger *ledger.Ledger
}

// unread is the problem that the ledger's error is.
func unread(err error) error {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, ledger.ErrCursor):
		return fmt.Errorf("%w: %w", web.Refusal("invalid_cursor"), err)
	}
	return fmt.Errorf("%w: %w", web.Refusal("ledger_unavailable"), err)
}

func (r records) History(ctx context.Context, id room.ID, f web.HistoryFilter) (web.History, error) {
	page, err := r.ledger.History(ctx, id, ledger.Filter(f))
	if err != nil {
		return web.History{}, unread(err)
	}
	h := web.History{Next: web.Word(page.Next)}
	for _, l := range page.Leases {
		h.Leases = append(h.Leases, web.LeaseRow{Epoch: l.Epoch, Fence: l.Fence, Ticket: l.Ticket, Seller: l.Seller,
			GrantedAt: web.When(l.GrantedAt), EndedAt: web.When(l.EndedAt), Outcome: web.Word(l.Outcome)})
	}
	for _, p := range page.Places {
		h.Places = append(h.Places, web.PlaceRow{Epoch: p.Epoch, Ticket: p.Ticket, Seller: p.Seller,
			JoinedAt: web.When(p.JoinedAt), EndedAt: web.When(p.EndedAt), Outcome: web.Word(p.Outcome)})
	}
	for _, m := range page.Messages {
		h.Messages = append(h.Messages, web.MessageRow{Epoch: m.Epoch, MessageID: m.MessageID, Result: web.Word(m.Result),
			Ticket: web.Number(m.Ticket), Fence: web.Number(m.Fence), SentAt: web.When(m.SentAt), ReceivedAt: web.When(m.ReceivedAt),
			Reason: string(m.Reason)})
	}
	for _, a := range page.Actions {
		h.Actions = append(h.Actions, actionRow(a))
	}
	return h, nil
}

func actionRow(a ledger.ActionRow) web.ActionRow {
	return web.ActionRow{Epoch: a.Epoch, Who: a.Who, Action: a.Action, Reason: a.Reason, Ticket: web.Number(a.Ticket),
		Fence: web.Number(a.Fence), At: web.When(a.At), MessageID: a.MessageID, Seller: web.Word(a.Seller),
		Seconds: web.Number(a.Seconds), From: web.Number(a.From), To: web.Number(a.To)}
}

// Story reads a seller's timeline, with what the journals hold still.
func (r records) Story(ctx context.Context, f web.StoryFilter) ([]web.StoryEvent, bool, error) {
	pending := []room.ID{f.Room}
	if f.Room == "" {
		var err error
		if pending, err = r.engine.Active(ctx); err != nil {
			return nil, false, err
		}
	}
	rows, err := r.ledger.Story(ctx, ledger.Story{Seller: f.Seller, Room: f.Room, From: f.From, Limit: f.Limit, Pending: pending})
	partial := errors.Is(err, ledger.ErrAway)
	switch {
	case errors.Is(err, room.ErrStore):
		return nil, false, err
	case err != nil && !partial:
		return nil, false, unread(err)
	}
	events := make([]web.StoryEvent, len(rows))
	for i, row := range rows {
		if events[i], err = storyEvent(row); err != nil {
			return nil, false, err
		}
	}
	return events, partial, nil
}

func storyEvent(r ledger.TimelineRow) (web.StoryEvent, error) {
	var d ledger.Detail
	if err := json.Unmarshal(r.Detail, &d); err != nil {
		return web.StoryEvent{}, fmt.Errorf("read timeline: %w", err)
	}
	return web.StoryEvent{At: web.When(r.At), Room: r.Room, Epoch: r.Epoch, Ticket: web.Number(r.Ticket), Fence: web.Number(r.Fence),
		Kind: r.Kind, Outcome: web.Word(d.Outcome), Result: web.Word(d.Result), Reason: web.Word(d.Reason), MessageID: web.Word(d.MessageID),
		ExpiresAt: web.When(d.ExpiresAt), Since: web.When(d.Since), Position: d.Position, Asks: d.Asks, Who: web.Word(d.Who),
		Action: web.Word(d.Action), Duplicate: d.Duplicate}, nil
}

// Sellers finds sellers by a piece of their ids.
func (r records) Sellers(ctx context.Context, text string, active []room.ID) (web.FoundSellers, error) {
	found, err := r.ledger.FindSellers(ctx, text, active)
	partial := errors.Is(err, ledger.ErrAway)
	switch {
	case errors.Is(err, room.ErrStore):
		return web.FoundSellers{}, err
	case err != nil && !partial:
		return web.FoundSellers{}, unread(err)
	}
	all := web.FoundSellers{Exact: found.Exact, Near: found.Near, More: found.More, Partial: partial}
	for _, s := range found.List {
		all.List = append(all.List, templates.FoundSeller{Seller: s.Seller, Room: string(s.Room), At: s.At})
	}
	return all, nil
}

func (r records) Audit(ctx context.Context, f web.AuditFilter) (web.Audit, error) {
	found, next, err := r.ledger.Audit(ctx, ledger.AuditFilter{Room: f.Room, Who: f.Who, Action: f.Action, From: f.From,
		To: f.To, Limit: f.Limit, Cursor: f.Cursor})
	if err != nil {
		return web.Audit{}, unread(err)
	}
	audit := web.Audit{Next: web.Word(next)}
	for _, a := range found {
		row := web.AuditRow{Room: web.Word(a.Room), ActionRow: actionRow(a.ActionRow)}
		if a.Room == room.SupportRoom {
			row.Room = ""
		}
		audit.Actions = append(audit.Actions, row)
	}
	return audit, nil
}
