package room

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

var (
	lookQuestion     = newVerb[lookArgs]("look")
	snapshotQuestion = newVerb[struct{}]("snapshot")
)

type lookArgs struct{ Sessions []string }

// LookBatch is the most sessions of one Look.
const LookBatch = 500

// Message is an SMS as its holder sees it. Its text and code are secrets.
type Message struct {
	MessageID  string  `json:"message_id"`
	Text       string  `json:"text"`
	Code       *string `json:"code"`
	ReceivedAt int64   `json:"received_at"` // unix ms
	Late       bool    `json:"late"`        // its lease was over when it arrived
	// Unreadable is true if this process cannot open the message: another secret has sealed it. Then the id
	// is a digest, and text and code are empty.
	Unreadable bool  `json:"unreadable,omitempty"`
	Ticket     int64 `json:"-"` // of the place that the message belongs to
	Fence      int64 `json:"-"` // of the message's lease
	ForgetAt   int64 `json:"-"` // unix ms: not shown from then on
}

// Offer is an unmatched message with a code that the holder may claim by Expect.
type Offer struct {
	MessageID  string `json:"message_id"`
	ReceivedAt int64  `json:"received_at"` // unix ms
	ForgetAt   int64  `json:"-"`           // unix ms
}

// Seat is a session's place with the messages that its page shows.
type Seat struct {
	Place
	Messages []Message // of the session's last lease, and late ones of earlier leases
	Offers   []Offer   // only for the holder
	Judging  bool      // the ledger has yet to agree to one more message
}

// Look returns the room and the places of sessions, all at one version.
//
// The seats are in the order of the sessions, of which there are at most LookBatch. Error: ErrStore.
func (e *Engine) Look(ctx context.Context, id ID, sessions ...string) (View, []Seat, error) {
	lines, err := e.lines(ctx, lookQuestion.with(lookArgs{sessions}), id, 1+2*len(sessions))
	if err != nil {
		return View{}, nil, err
	}
	r := reader{fields: strings.Fields(lines[0])}
	r.text()
	view := r.view()
	seats := make([]Seat, len(sessions))
	for i := range seats {
		p := reader{fields: strings.Fields(lines[1+2*i])}
		seats[i].Place = p.place()
		for _, entry := range strings.Fields(lines[2+2*i]) {
			if err := e.addShown(id, &seats[i], entry); err != nil {
				return View{}, nil, err
			}
		}
		r.short = r.short || p.short
	}
	if r.short {
		return View{}, nil, fmt.Errorf("%w: reply is cut short", ErrStore)
	}
	e.saw(id, view)
	for i, session := range sessions {
		e.stood(id, session, Standing{View: view, Place: seats[i].Place})
	}
	return view, seats, nil
}

// addShown adds a message or an offer to a seat.
func (e *Engine) addShown(id ID, seat *Seat, entry string) error {
	f := strings.Split(entry, "|")
	if len(f) != 8 {
		return fmt.Errorf("%w: a message is not readable", ErrStore)
	}
	if f[0] == "w" {
		seat.Judging = true
		return nil
	}
	m := Message{MessageID: f[1], Unreadable: true}
	if text, err := e.unseal(id, f[7], aboutMessage(id, f[1])); err == nil {
		m = Message{}
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("%w: a message is not readable", ErrStore)
		}
	} else if f[0] == "o" { // it cannot be claimed without its id
		return nil
	}
	m.Ticket, _ = strconv.ParseInt(f[2], 10, 64)
	m.Fence, _ = strconv.ParseInt(f[3], 10, 64)
	m.Late = f[4] == "1"
	m.ReceivedAt, _ = strconv.ParseInt(f[5], 10, 64)
	m.ForgetAt, _ = strconv.ParseInt(f[6], 10, 64)
	if f[0] == "o" {
		seat.Offers = append(seat.Offers, Offer{MessageID: m.MessageID, ReceivedAt: m.ReceivedAt,
			ForgetAt: m.ForgetAt})
		return nil
	}
	seat.Messages = append(seat.Messages, m)
	return nil
}

// Stand returns the standing of one session; session "" is a spectator without a place. Error: ErrStore.
func (e *Engine) Stand(ctx context.Context, id ID, session string) (Standing, error) {
	view, seats, err := e.Look(ctx, id, session)
	if err != nil {
		return Standing{}, err
	}
	return Standing{View: view, Place: seats[0].Place, LeaseLength: e.Terms(id).Lease}, nil
}

// Snapshot is the whole line at one version.
type Snapshot struct {
	View
	Ranks []float64 // of the waiters, in order
}

// Snapshot returns the whole line, for a mirror that missed an event. Error: ErrStore.
func (e *Engine) Snapshot(ctx context.Context, id ID) (Snapshot, error) {
	lines, err := e.lines(ctx, snapshotQuestion.with(struct{}{}), id, 2)
	if err != nil {
		return Snapshot{}, err
	}
	a, err := e.read(id, lines[0])
	if err != nil {
		return Snapshot{}, err
	}
	fields := strings.Fields(lines[1])
	ranks := make([]float64, len(fields))
	for i, f := range fields {
		if ranks[i], err = strconv.ParseFloat(f, 64); err != nil {
			return Snapshot{}, fmt.Errorf("%w: rank %q", ErrStore, f)
		}
	}
	return Snapshot{View: a.standing.View, Ranks: ranks}, nil
}

// lines runs a verb whose reply is a list of n strings.
func (e *Engine) lines(ctx context.Context, c call, id ID, n int) ([]string, error) {
	out, err := e.list(ctx, c, id)
	if err == nil && len(out) != n {
		return nil, fmt.Errorf("%w: reply is not a list of %d", ErrStore, n)
	}
	return out, err
}

// list runs a verb whose reply is a list of strings. If Redis refuses writes, it runs the verb as read-only.
func (e *Engine) list(ctx context.Context, c call, id ID) ([]string, error) {
	sent := time.Now()
	res, err := e.run(ctx, c, id)
	if NoWrites(err) {
		c.readOnly = true
		res, err = e.run(ctx, c, id)
	}
	if err != nil {
		return nil, err
	}
	list, ok := res.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: reply is a %T, not a list", ErrStore, res)
	}
	out := make([]string, len(list))
	for i, v := range list {
		if out[i], ok = v.(string); !ok {
			return nil, fmt.Errorf("%w: reply has a %T", ErrStore, v)
		}
	}
	if e.memory.cluster && len(out) > 0 { // no list is kept for repeats, so this reply's time is new
		r := reader{fields: strings.Fields(out[0])}
		r.text()
		if now := r.view().Now; now != 0 {
			e.timed(id, sent, now)
		}
	}
	return out, nil
}
