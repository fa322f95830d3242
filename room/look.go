package room

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

var (
	lookScript     = script("look")
	snapshotScript = script("snapshot")
)

// LookBatch is how many sessions one Look may name.
const LookBatch = 500

// Message is an SMS as its holder sees it. Its text and code are secrets.
type Message struct {
	Text       string  `json:"text"`
	Code       *string `json:"code"`
	ReceivedAt int64   `json:"received_at"` // unix ms
}

// Seat is a session's place and the messages of its last lease that it was shown in the last minutes.
type Seat struct {
	Place
	Messages []Message
}

// Look tells how the room is and how sessions stand, all at one version. Seats are in the order of
// the sessions, at most LookBatch.
func (e *Engine) Look(ctx context.Context, id ID, sessions ...string) (View, []Seat, error) {
	args := make([]any, len(sessions))
	for i, s := range sessions {
		args[i] = s
	}
	lines, err := e.lines(ctx, lookScript, id, 1+2*len(sessions), args...)
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
		if text := lines[2+2*i]; text != "" {
			if err := json.Unmarshal([]byte(text), &seats[i].Messages); err != nil {
				return View{}, nil, fmt.Errorf("%w: a message is not readable", ErrStore)
			}
		}
		r.short = r.short || p.short
	}
	if r.short {
		return View{}, nil, fmt.Errorf("%w: reply is cut short", ErrStore)
	}
	return view, seats, nil
}

// Stand tells how one session stands; "" is a spectator.
func (e *Engine) Stand(ctx context.Context, id ID, session string) (Standing, error) {
	view, seats, err := e.Look(ctx, id, session)
	if err != nil {
		return Standing{}, err
	}
	return Standing{View: view, Place: seats[0].Place, LeaseLength: e.cfg.Lease}, nil
}

// Snapshot is the whole line at one version.
type Snapshot struct {
	View
	Ranks []float64 // of the waiters, in order
}

// Snapshot reads the whole line: for a mirror that missed an event, not for every question.
func (e *Engine) Snapshot(ctx context.Context, id ID) (Snapshot, error) {
	lines, err := e.lines(ctx, snapshotScript, id, 2)
	if err != nil {
		return Snapshot{}, err
	}
	a, err := e.parseAnswer(lines[0])
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

// lines runs a script whose reply is a list of n strings.
func (e *Engine) lines(ctx context.Context, s *redis.Script, id ID, n int, args ...any) ([]string, error) {
	res, err := e.run(ctx, s, id, "look", args...)
	if err != nil {
		return nil, err
	}
	list, ok := res.([]any)
	if !ok || len(list) != n {
		return nil, fmt.Errorf("%w: reply is not a list of %d", ErrStore, n)
	}
	out := make([]string, n)
	for i, v := range list {
		if out[i], ok = v.(string); !ok {
			return nil, fmt.Errorf("%w: reply has a %T", ErrStore, v)
		}
	}
	return out, nil
}
