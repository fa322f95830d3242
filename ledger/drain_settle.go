package ledger

import (
	"context"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// applied tells the rooms the verdicts in entries that were applied, and trims the journals; each room has an error of its own. The verdicts are
// told before the trim, also for entries that were applied before: whoever applied them may be dead.
func (l *Ledger) applied(ctx context.Context, portions ...*portion) []error {
	failed, journals, of := make([]error, len(portions)), make([]room.Journal, 0, len(portions)), make([]int, 0, len(portions))
	for i, p := range portions {
		if failed[i] = l.tellAll(ctx, p); failed[i] == nil {
			l.unsubscribe(ctx, p.id, p.entries)
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

// tellAll tells the room the verdicts in a portion.
func (l *Ledger) tellAll(ctx context.Context, p *portion) error {
	for _, v := range p.verdicts {
		if err := l.tell(ctx, p.id, v); err != nil {
			return err
		}
		p.told[v.match] = v.agreed
	}
	return nil
}

// tell tells a room a verdict.
func (l *Ledger) tell(ctx context.Context, id room.ID, v verdict) error {
	if err := l.cfg.Rooms.SettleMatch(ctx, id, v.messageID, v.fence, v.agreed); err != nil {
		return fmt.Errorf("settle match: %w", err)
	}
	return nil
}
