package room

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

var renewVerb = newVerb[renewArgs]("renew", "wake")

type renewArgs struct {
	Epoch      int64 // that was told last; 0 = nothing
	Version    int64
	Lineage    string
	Known      []byte // JSON of a knowledge
	Registered int64
	Fresh      bool
}

// lay shows a room what this process was told of it. Where the store does not have that in its past it has lost writes, and a new epoch
// begins: see renew.lua.
func (e *Engine) lay(ctx context.Context, id ID) error {
	return e.layAll(ctx, id, e.recorded(ctx, id))
}

// fresh lays before a room that the store may know nothing of what the durable record knows of it.
func (e *Engine) fresh(ctx context.Context, id ID) error {
	found := e.recorded(ctx, id)
	if found == (Recorded{}) {
		return nil
	}
	return e.layAll(ctx, id, found)
}

// recordWithin is how long the durable record may take to say what it knows of a room.
const recordWithin = 250 * time.Millisecond

// recorded is what the durable record knows of a room; where it does not say, what the living processes know has to do.
func (e *Engine) recorded(ctx context.Context, id ID) Recorded {
	if e.cfg.Recorded == nil {
		return Recorded{}
	}
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	found, err := e.cfg.Recorded(ctx, id)
	if err != nil {
		return Recorded{}
	}
	return found
}

// asksMost is of how many places the record is asked how they ended.
const asksMost = 1000

// endRecorded takes in how places ended that this process was told were live, and may have told others, as far as the record says.
func (e *Engine) endRecorded(ctx context.Context, id ID, k *knowledge) {
	live := k.live(asksMost)
	if e.cfg.Ended == nil || len(live) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	if ends, err := e.cfg.Ended(ctx, id, live); err == nil {
		k.end(ends)
	}
}

func (e *Engine) layAll(ctx context.Context, id ID, found Recorded) error {
	k := e.told.knowledge(id)
	k.Fence, k.Ticket, k.Lost = max(k.Fence, found.Fence), max(k.Ticket, found.Ticket), found.Open
	e.endRecorded(ctx, id, &k)
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("encode what was told: %w", err)
	}
	return e.index.registeredNow(ctx, id, func(l listing) error {
		res, err := e.eval(ctx, renewVerb.with(renewArgs{k.mark.epoch, k.mark.version, k.mark.lineage, text, l.at, l.fresh}), id, []string{"renew"}, mark{}, true)
		if err != nil {
			return err
		}
		if code, _, _ := strings.Cut(fmt.Sprint(res), " "); code == "ok" || code == "renewed" {
			e.told.laid(id, k.mark) // before the reply is read, which may be of another epoch
		}
		a, err := e.read(id, res)
		if err != nil {
			return err
		}
		if a.code == "renewed" && e.cfg.Lost != nil {
			e.cfg.Lost(id, a.standing.View)
		}
		return nil
	})
}
