package room

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

var replayVerb = newVerb[replayArgs]("replay")

type replayArgs struct {
	Epoch   int64 // last observed epoch; 0 = none
	Version int64
	Lineage string
	Known   []byte // a replay, as JSON
}

// replay has the observations and the ledger's record that are replayed to a room: see verb/replay.lua.
type replay struct {
	at     position
	Fence  int64           `json:"fence"`  // the highest that this process or the ledger has
	Over   int64           `json:"over"`   // when the latest observed lease was granted or ended (unix ms)
	Ticket int64           `json:"ticket"` // the highest that this process or the ledger has
	Lost   bool            `json:"lost"`   // the ledger has a lease without an end
	Ended  int64           `json:"ended"`  // end of the last lease in the ledger (unix ms)
	Last   int64           `json:"last"`   // the highest fence that this process observed
	Lease  *replayedLease  `json:"lease"`
	Places []observedPlace `json:"places"`
}

type replayedLease struct {
	Fence     int64 `json:"fence"`
	Ticket    int64 `json:"ticket"`
	GrantedAt int64 `json:"granted"` // unix ms
	Left      int64 `json:"left"`    // ms
}

// replayOf returns all observations of a room.
func (m *memory) replayOf(id ID) replay {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := replay{Places: []observedPlace{}}
	o := m.known(id).observed
	if o == nil || time.Since(o.at) > m.keep { // Redis may have expired the room as it should
		return k
	}
	k.at, k.Fence, k.Over, k.Ticket, k.Last = o.position, o.fence, o.over, o.ticket, o.fence
	if left, l := time.Until(o.ends).Milliseconds(), o.lease; l.Fence != 0 && left > 0 {
		const cutOff = 2 // ms: the most cut off, here and from Redis's time. The lease must not end early
		k.Lease = &replayedLease{Fence: l.Fence, Ticket: l.Ticket, GrantedAt: l.GrantedAt, Left: left + cutOff}
	}
	now := time.Now()
	for _, p := range o.places {
		if p.Session != "" && !p.past(now) { // not pruned yet
			k.Places = append(k.Places, *p)
		}
	}
	slices.SortFunc(k.Places, func(a, b observedPlace) int { return cmp.Compare(a.Ticket, b.Ticket) })
	return k
}

// livePlaces returns places that were observed live, at most `most`: first holders, then the latest waiters.
func (m *memory) livePlaces(id ID, most int) (list []PlaceID) {
	k := m.replayOf(id)
	var waiting []PlaceID
	for _, p := range slices.Backward(k.Places) {
		switch at := (PlaceID{Epoch: p.Of, Ticket: p.Ticket}); {
		case p.Outcome != "":
		case p.Fence != 0:
			list = append(list, at)
		default:
			waiting = append(waiting, at)
		}
	}
	list = append(list, waiting...)
	return list[:min(len(list), most)]
}

// end adds the ledger's ends of places that were observed live. The room still waits until their leases would
// have ended, since the ledger may lack a later lease.
func (k *replay) end(ends []RecordedEnd) {
	by := make(map[PlaceID]RecordedEnd, len(ends))
	for _, end := range ends {
		by[end.PlaceID] = end
	}
	for i := range k.Places {
		p := &k.Places[i]
		if end, ok := by[PlaceID{Epoch: p.Of, Ticket: p.Ticket}]; ok && p.Outcome == "" && end.Seller == p.Seller {
			p.Waited, p.Outcome, p.EndedAt = p.Fence == 0, end.Outcome, end.EndedAt
			p.Fence = cmp.Or(end.Fence, p.Fence)
		}
	}
}

// replayed records that a replay reached its room. It drops the replayed places that ended or held the lock,
// unless a reply or event about them was observed since.
func (m *memory) replayed(id ID, k replay) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.known(id).observed
	if o == nil {
		return
	}
	o.replayed = k.at
	for i := range k.Places {
		sent := &k.Places[i]
		p := o.places[sent.Ticket]
		if p != nil && p.at.Equal(sent.at) && (p.Outcome != "" || p.Fence != 0) {
			delete(o.places, sent.Ticket)
		}
	}
}

// takeUnreplayed returns the rooms that this process has yet to replay in a new epoch, and forgets that it
// has to.
func (m *memory) takeUnreplayed() []ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.unreplayed) == 0 {
		return nil
	}
	list := slices.Collect(maps.Keys(m.unreplayed))
	clear(m.unreplayed)
	return list
}

// observedRooms returns the rooms with observations, the latest first.
func (m *memory) observedRooms() []ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]ID, 0, len(m.rooms))
	for id, r := range m.rooms {
		if r.observed != nil {
			list = append(list, id)
		}
	}
	slices.SortFunc(list, func(a, b ID) int { return m.rooms[b].observed.at.Compare(m.rooms[a].observed.at) })
	return list
}

// replay replays this process's observations and the ledger's record to a room. If Redis has lost any of
// these, a new epoch begins: see verb/replay.lua.
func (e *Engine) replay(ctx context.Context, id ID) error {
	return e.replayWith(ctx, id, e.recorded(ctx, id), "")
}

// replayRecord replays the ledger's record to a room that Redis may have lost. With a token it does so only
// while the room is absent under that token.
func (e *Engine) replayRecord(ctx context.Context, id ID, token string) error {
	found := e.recorded(ctx, id)
	if found.Recorded == (Recorded{}) {
		return nil
	}
	return e.replayWith(ctx, id, found, token)
}

func (e *Engine) replayWith(ctx context.Context, id ID, found record, token string) error {
	k := e.memory.replayOf(id)
	k.Fence, k.Ticket, k.Lost, k.Ended = max(k.Fence, found.Fence), max(k.Ticket,
		found.Ticket), found.Open, found.Ended
	k.end(found.ends)
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("encode a replay: %w", err)
	}
	return e.index.registeredNow(ctx, id, token, func(l listing) error {
		args := replayArgs{k.at.epoch, k.at.version, k.at.lineage, text}
		res, err := e.eval(ctx, replayVerb.with(args).begins(l), id, position{}, true)
		if err != nil {
			return err
		}
		a, err := e.parseAnswer(res)
		if (a.Code == "ok" || a.Code == "replayed") && a.Epoch != k.at.epoch { // a new epoch began
			e.memory.replayed(id, k)
		}
		e.saw(id, a.View)
		if err != nil {
			return err
		}
		if a.Code == "replayed" && e.cfg.Lost != nil {
			e.cfg.Lost(id, a.View)
		}
		return nil
	})
}
