package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/history"
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

func (r records) History(ctx context.Context, id room.ID, f support.HistoryFilter) (history.Page, error) {
	page, err := r.ledger.History(ctx, id, read.Filter(f))
	return page, unread(err)
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
	return support.StoryEvent{At: history.Time(r.At), Room: r.Room, Epoch: r.Epoch,
		Ticket: history.Number(r.Ticket), Fence: history.Number(r.Fence),
		Kind: r.Kind, Outcome: history.Word(d.Outcome), Result: history.Word(d.Result),
		Reason: history.Word(d.Reason), MessageID: history.Word(d.MessageID),
		ExpiresAt: history.Time(d.ExpiresAt), Since: history.Time(d.Since), Position: d.Position,
		Asks: d.Asks, Who: history.Word(d.Who),
		Action: history.Word(d.Action), Duplicate: d.Duplicate, Times: d.Times}, nil
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
		From: f.From, To: f.To, Limit: f.Limit, Cursor: f.Cursor})
	return support.Audit{Actions: found, Next: history.Word(next)}, unread(err)
}
