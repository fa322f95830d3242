package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/room"
)

const settleWithin = 2 * time.Second // the verdicts of one room's portion

// settled are the verdicts that a drain has sent to the rooms.
type settled map[settledMatch]bool

type settledMatch struct {
	room room.ID
	match
}

// settle sends the verdicts on applied portions to their rooms and trims the journals. Each room has an error
// of its own. Verdicts are sent before the trim, also for entries that were applied before: the replica that
// applied them may have died.
func (l *Ledger) settle(ctx context.Context, portions []*portion, sent settled) []error {
	refused := l.each(ctx, portions, settleWithin, func(ctx context.Context, p *portion) error {
		if err := l.settleVerdicts(ctx, p); err != nil {
			return err
		}
		l.unsubscribe(ctx, p.id, p.entries)
		return nil
	})
	failed, journals := make([]error, len(portions)), make([]room.Journal, 0, len(portions))
	of := make([]int, 0, len(portions))
	for i, p := range portions {
		for _, v := range p.verdicts[:p.sent] {
			sent[settledMatch{p.id, v.match}] = v.agreed
		}
		if failed[i] = refused[p.id]; failed[i] == nil {
			journals, of = append(journals, room.Journal{Room: p.id, Entries: p.entries}), append(of, i)
		}
	}
	for i, err := range l.cfg.Journal.TrimJournals(ctx, journals) {
		if failed[of[i]] = err; err == nil {
			l.metrics.drained(journals[i].Entries, l.cfg.Now())
		}
	}
	return failed
}

// settleVerdicts sends a portion's verdicts to its room, in the journal's order.
func (l *Ledger) settleVerdicts(ctx context.Context, p *portion) error {
	for _, v := range p.verdicts {
		if err := l.settleMatch(ctx, p.id, v); err != nil {
			return err
		}
		p.sent++
	}
	return nil
}

// settleMatch sends one verdict to a room.
func (l *Ledger) settleMatch(ctx context.Context, id room.ID, v verdict) error {
	if err := l.cfg.Rooms.SettleMatch(ctx, id, v.messageID, v.fence, v.agreed); err != nil {
		return fmt.Errorf("settle match: %w", err)
	}
	return nil
}
