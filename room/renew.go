package room

import (
	"context"
	"encoding/json"
	"fmt"
)

var renewVerb = newVerb[renewArgs]("renew")

type renewArgs struct {
	Epoch      int64 // that was told last; 0 = nothing
	Version    int64
	Lineage    string
	Known      []byte // JSON of a knowledge
	Registered int64
	Begins     string // the blank that a room may be begun in place of; "" = none
}

// lay shows a room what this process was told of it. Where the store does not have that in its past it has lost writes, and a new epoch
// begins: see renew.lua.
func (e *Engine) lay(ctx context.Context, id ID) error {
	return e.layAll(ctx, id, e.recorded(ctx, id), "")
}

// fresh lays before a room that the store may know nothing of, but has that blank of, what the durable record knows of it.
func (e *Engine) fresh(ctx context.Context, id ID, blank string) error {
	found := e.recorded(ctx, id)
	if found.Recorded == (Recorded{}) {
		return nil
	}
	return e.layAll(ctx, id, found, blank)
}

func (e *Engine) layAll(ctx context.Context, id ID, found record, blank string) error {
	k := e.told.knowledge(id)
	k.Fence, k.Ticket, k.Lost, k.Ended = max(k.Fence, found.Fence), max(k.Ticket, found.Ticket), found.Open, found.Ended
	k.end(found.ends)
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("encode what was told: %w", err)
	}
	return e.index.registeredNow(ctx, id, blank, func(l listing) error {
		res, err := e.eval(ctx, renewVerb.with(renewArgs{k.mark.epoch, k.mark.version, k.mark.lineage, text, l.at, l.begins}), id, []string{"renew"}, mark{}, true)
		if err != nil {
			return err
		}
		a, err := e.parseAnswer(id, res)
		if (a.code == "ok" || a.code == "renewed") && a.standing.Epoch != k.mark.epoch { // else nothing was added to what the room has
			e.told.laid(id, k)
		}
		e.saw(id, a.standing.View)
		if err != nil {
			return err
		}
		if a.code == "renewed" && e.cfg.Lost != nil {
			e.cfg.Lost(id, a.standing.View)
		}
		return nil
	})
}
