package rules_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms/rules"
)

const (
	unit    = 50 * time.Second // a quarantine of 6 units is 5 min, and 12 units are the 10 min of the engine
	opening = int64(1_800_000_000_000)
	id      = room.ID("integration")
)

var replayed = rules.Settings{Quarantine: 6, Behind: 1, OpenFor: 12}

// sample returns an explorer whose walks go everywhere, also where assumptions do not hold.
func sample(dropped rules.Assumption) *rules.Explorer {
	return &rules.Explorer{Settings: replayed, Bounds: rules.Bounds{Leases: rules.MostLeases,
		Asks: rules.MostAsks, Messages: rules.MostMessages, Waits: []rules.Time{0, 1, 2, 3}, Transit: 3, Claims: 2,
		Rejects: 2, Silent: true, Narrow: true, Skew: true, Copies: true, Strays: true, Dropped: dropped}}
}

// In every world of a sample, the engine gives the verdicts of the model, and shows and offers the same.
func TestEngineAgreesWithTheModel(t *testing.T) { agrees(t, 1, 400) }

// agrees replays histories until so many worlds were compared: one after each event.
func agrees(t *testing.T, seed uint64, worlds int) {
	t.Helper()
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	random := rand.New(rand.NewPCG(seed, 1))
	for n, compared := 0, 0; compared < worlds; n++ {
		x := sample(rules.Assumption(0))
		if n%2 == 1 {
			x = sample(^(rules.HasTime | rules.NotAhead))
		}
		path := x.Walk(random, 14)
		p := &replay{t: t, store: embedded, engine: room.New(rdb, room.Config{Lease: 10 * time.Minute,
			Quarantine: time.Duration(replayed.Quarantine) * unit, Leases: 24 * time.Hour, Silent: true, Recovery: -1})}
		embedded.FlushAll()
		err := p.run(path)
		require.NoError(t, err, "history %d:\n%s", n, rules.Story(&replayed, path[:p.done]))
		compared += len(path)
	}
}

// replay is a world on the engine, beside the model.
type replay struct {
	t        *testing.T
	store    *miniredis.Miniredis
	engine   *room.Engine
	model    rules.Room
	sessions [4]string
	fences   []int64
	done     int // events
}

func (p *replay) run(path []rules.Event) error {
	for i := range p.sessions {
		p.sessions[i] = room.NewSession()
	}
	if err := p.open(); err != nil {
		return err
	}
	for _, e := range path {
		p.done++
		p.store.SetTime(at(e.At))
		before := p.model
		p.model.Do(&replayed, e)
		if err := p.do(&before, e); err != nil {
			return err
		}
		if err := p.compare(); err != nil {
			return err
		}
	}
	return nil
}

func at(t rules.Time) time.Time { return time.UnixMilli(opening).Add(time.Duration(t) * unit) }

func (p *replay) do(before *rules.Room, e rules.Event) error {
	ctx := p.t.Context()
	session := func(l int8) string { return p.sessions[before.Leases[l].Party] }
	switch e.Op {
	case rules.OpGrant:
		return p.grant(e)
	case rules.OpLeave:
		h := before.Holder()
		if e.At-before.Leases[h].Granted == replayed.OpenFor {
			_, err := p.engine.Expire(ctx, id)
			return err
		}
		_, err := p.engine.Leave(ctx, id,
			room.LeaveRequest{Session: session(h), Outcome: room.Cancelled, Fence: p.fences[h]})
		return err
	case rules.OpAsk:
		h := before.Holder()
		q := room.ExpectRequest{Session: session(h), Fence: p.fences[h]}
		if e.Narrow {
			q.Filter.From = []string{"02-555-0000"}
		}
		x, err := p.engine.Expect(ctx, id, q)
		if errors.Is(err, room.ErrNumberBusy) {
			if until := at(e.Busy).UnixMilli(); e.Busy == 0 || x.AskAfter != until {
				return fmt.Errorf("the engine says busy until %d, the model until %d", x.AskAfter, until)
			}
			return nil
		}
		if e.Busy != 0 {
			return fmt.Errorf("the engine says that the number is free (%w)", err)
		}
		return err
	case rules.OpMessage:
		return p.message(e)
	case rules.OpClaim:
		h := before.Holder()
		x, err := p.engine.Expect(ctx, id,
			room.ExpectRequest{Session: session(h), Fence: p.fences[h], MessageID: name(e.Index)})
		if err != nil {
			return fmt.Errorf("claim: %w", err)
		}
		return p.engine.SettleMatch(ctx, id, name(e.Index), x.Claim.Fence, true)
	default:
		l := before.Messages[e.Index].Lease
		if err := p.engine.Reject(ctx, id, session(l), p.fences[l], name(e.Index)); err != nil {
			return fmt.Errorf("reject: %w", err)
		}
		return nil
	}
}

// grant has support let a session to the front. The room is paused otherwise, and one more session waits in
// it: a room with an empty line falls asleep, and does not wake in the same millisecond.
func (p *replay) grant(e rules.Event) error {
	ctx, by := p.t.Context(), room.Action{Who: "kim", Reason: "replay"}
	st, err := p.engine.Join(ctx, id, room.JoinRequest{Session: p.sessions[e.Party],
		Seller: fmt.Sprint("s", e.Party), Asks: e.Asking})
	if err != nil {
		return err
	}
	if _, err = p.engine.Move(ctx, id, "", st.Ticket, 1, by); err != nil {
		return err
	}
	if _, err = p.engine.Pause(ctx, id, "", false, by); err != nil {
		return err
	}
	if st, err = p.engine.Pause(ctx, id, "", true, by); err != nil || st.Lease == nil {
		return fmt.Errorf("grant: %v %w", st.View, err)
	}
	p.fences = append(p.fences, st.Lease.Fence)
	return nil
}

func (p *replay) open() error {
	p.store.SetTime(at(0))
	ctx := p.t.Context()
	if _, err := p.engine.Pause(ctx, id, "", true, room.Action{Who: "kim", Reason: "replay"}); err != nil {
		return err
	}
	_, err := p.engine.Join(ctx, id, room.JoinRequest{Session: room.NewSession(), Seller: "keeper", Asks: true})
	return err
}

func name(i int8) string { return fmt.Sprint("m", i+1) }

func (p *replay) message(e rules.Event) error {
	m := e.Message
	code := fmt.Sprint(482910 + int(m.Code))
	q := room.MatchRequest{MessageID: name(e.Index), Sender: "1588-1234", Foreign: m.Sender == rules.Foreign,
		Personal: m.Sender == rules.Personal,
		Shown:    room.Message{Text: fmt.Sprintf("text %d: %s", m.Text, code), Code: &code},
		Note:     room.MessageNote{MessageID: name(e.Index), Text: "****"}}
	if m.Stamped {
		q.From = at(m.From).UnixMilli()
		q.To = q.From + 1
	}
	got, err := p.engine.Match(p.t.Context(), id, q)
	if err != nil {
		return err
	}
	if got.Judge {
		if err := p.engine.SettleMatch(p.t.Context(), id, q.MessageID, got.Fence, true); err != nil {
			return err
		}
	}
	want := &p.model.Messages[e.Index]
	if verdict := verdictOf(got); verdict != want.Answer.String() {
		return fmt.Errorf("message %d: the engine says %s, the model %s", e.Index+1, verdict, want.Answer)
	}
	if want.Lease != rules.None && p.fences[want.Lease] != got.Fence {
		return fmt.Errorf("message %d: the engine gives it to fence %d of %v, the model to lease %d",
			e.Index+1, got.Fence, p.fences, want.Lease+1)
	}
	return nil
}

func verdictOf(m room.Match) string {
	if m.Result == room.Unmatched {
		return string(m.Reason)
	}
	return string(m.Result)
}

// compare compares what each session is shown and offered, and who holds the lock.
func (p *replay) compare() error {
	view, seats, err := p.engine.Look(p.t.Context(), id, p.sessions[:]...)
	if err != nil {
		return err
	}
	h := p.model.Holder()
	if (h != rules.None) != (view.Lease != nil) || h != rules.None && view.Lease.Fence != p.fences[h] {
		return fmt.Errorf("the engine's lease is %+v, the model's %d", view.Lease, h+1)
	}
	for party, seat := range seats {
		var offers, want []string
		for _, o := range seat.Offers {
			offers = append(offers, o.MessageID)
		}
		for i := range p.model.NumMessages {
			m := &p.model.Messages[i]
			mine := h != rules.None && m.Offered == h && int(p.model.Leases[h].Party) == party
			if mine && m.Lease == rules.None && p.model.Now-m.Came < replayed.OpenFor {
				want = append(want, name(i))
			}
		}
		slices.Sort(offers)
		if !slices.Equal(offers, want) {
			return fmt.Errorf("the engine offers %q to %c, the model %q", offers, 'A'+party, want)
		}
		for _, m := range seat.Messages {
			i := int8(m.MessageID[1] - '1')
			if l := p.model.Messages[i].Lease; l == rules.None || int(p.model.Leases[l].Party) != party {
				return fmt.Errorf("the engine shows %s to %c, the model does not", m.MessageID, 'A'+party)
			}
		}
	}
	return nil
}
