package client

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// Turn is a seller's place in a room: waiting, holding the lock, or over. Its methods may be called by many
// goroutines.
type Turn struct {
	c       *Client
	room    string
	session string
	kept    kept

	mu    sync.Mutex
	state State
	fence int64           // of the last lease that this Turn has received; 0 = none
	taken map[string]bool // messages whose codes Code has returned
}

// String names the room, and not the session, which is a secret.
func (t *Turn) String() string { return "turn in " + t.room }

// State is the state of a place. Times are in the server's clock.
type State struct {
	Status  string // "waiting", "locked" or "ended"
	Outcome string // where it has ended
	// Position is 1 for the next in line, Length the number of waiters; both are 0 unless the place waits.
	Position, Length int
	// Estimated and Maximum are how long it still waits; both 0 if that is not known, as in a paused room.
	Estimated, Maximum time.Duration
	Fence              int64     // of the lease; 0 unless it holds the lock
	ExpiresAt          time.Time // when the lease ends: its own, or the holder's while it waits
	Paused             bool
	Notice             Notice // what support announces to all who wait; the zero Notice if that is nothing
	Ticket             int64
	claim              bool // the lease is to be claimed, or an earlier one was not: the seller has to confirm
}

// Notice is a text of support for all who wait in a room.
type Notice struct {
	Text  string    `json:"text"`
	Level string    `json:"level"` // "info" or "warning"
	Until time.Time `json:"until"` // when it ends
}

// answer has the fields of the API's answers about a place.
type answer struct {
	Status    string    `json:"status"`
	Outcome   string    `json:"outcome"`
	Ticket    int64     `json:"ticket"`
	Position  int       `json:"queue_position"`
	Length    int       `json:"queue_length"`
	Estimated int64     `json:"estimated_wait"`
	Maximum   int64     `json:"maximum_wait"`
	Fence     int64     `json:"fence"`
	ExpiresAt time.Time `json:"expires_at"`
	Holder    time.Time `json:"lease_expires_at"`
	ClaimBy   string    `json:"claim_by"`
	Unclaimed bool      `json:"unclaimed"`
	Paused    bool      `json:"paused"`
	Notice    Notice    `json:"notice"`
	Me        *answer   `json:"me"`
}

func (a answer) state() State {
	s := State{Status: a.Status, Outcome: a.Outcome, Position: a.Position, Length: a.Length,
		Estimated: time.Duration(a.Estimated) * time.Second, Maximum: time.Duration(a.Maximum) * time.Second,
		Fence: a.Fence, ExpiresAt: a.ExpiresAt, Paused: a.Paused, Ticket: a.Ticket, claim: a.ClaimBy != "" ||
			a.Unclaimed}
	if s.Status == "waiting" {
		s.ExpiresAt = a.Holder
	}
	return s
}

// Option changes how Join joins.
type Option func(*joining)

type joining struct {
	session string
	noWait  bool
	keep    Store
}

// Session joins under the caller's session: a UUID that no other program uses. Keep does more.
func Session(id string) Option { return func(j *joining) { j.session = id } }

// NoWait makes Join fail with the Problem lock_held or room_paused instead of waiting in line.
func NoWait() Option { return func(j *joining) { j.noWait = true } }

// Join gets the lock of a room or a place in its line. A seller has one place in a room: if another session
// has it, Join fails with the Problem seller_has_place. If the server identifies sellers by tokens, seller is
// "".
func (c *Client) Join(ctx context.Context, room, seller string, options ...Option) (*Turn, error) {
	j := joining{session: newID()}
	for _, o := range options {
		o(&j)
	}
	if j.keep != nil {
		return c.joinKept(ctx, room, seller, j)
	}
	return c.join(ctx, room, seller, j)
}

// join joins under j's session.
func (c *Client) join(ctx context.Context, room, seller string, j joining) (*Turn, error) {
	t := &Turn{c: c, room: room, session: j.session, taken: map[string]bool{}}
	q := t.request(http.MethodPost, "/lock")
	q.proves = true
	q.body = map[string]any{"seller_id": seller, "asks": true}
	q.query = url.Values{"here": {"true"}} // away, and passed over, if the program dies before it waits
	if j.noWait {
		q.query = url.Values{"wait": {"false"}}
	}
	var a answer
	if err := c.call(ctx, q, &a); err != nil {
		return nil, err
	}
	t.observe(a.state())
	return t, nil
}

// Resume returns the turn of a session that has joined before, for a program that was restarted. It fails
// with ErrNoTurn if the session has no place.
func (c *Client) Resume(ctx context.Context, room, session string) (*Turn, error) {
	t := &Turn{c: c, room: room, session: session, taken: map[string]bool{}}
	if _, err := t.look(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// Session returns the secret that identifies the place; a program stores it to continue after a restart.
func (t *Turn) Session() string { return t.session }

// State returns the last state that a call has received. Code receives one only where the turn is over.
func (t *Turn) State() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

func (t *Turn) lastFence() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.fence
}

func (t *Turn) observe(s State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state = s
	if s.Fence != 0 {
		t.fence = s.Fence
	}
}

func (t *Turn) request(method, path string) request {
	return request{method: method, path: "/api/" + url.PathEscape(t.room) + path, session: t.session}
}

// look asks the server for the state. A waiting seller counts as present by it.
func (t *Turn) look(ctx context.Context) (State, error) {
	q := t.request(http.MethodGet, "/lock/status")
	q.query = url.Values{"here": {"true"}}
	var a answer
	if err := t.c.call(ctx, q, &a); err != nil {
		return State{}, err
	}
	if a.Me == nil {
		return State{}, ErrNoTurn
	}
	s := a.Me.state()
	s.Paused, s.Notice = a.Paused, a.Notice
	t.observe(s)
	return s, nil
}

// Wait returns when the seller holds the lock. It claims the lease if the server requires that. It fails with
// *Ended if the place ends before. If the turn came and was completed already, Wait returns, too: Code then
// returns the code that completed it, such as to a program that was started again.
func (t *Turn) Wait(ctx context.Context) error {
	var last State
	var failed error
	for s, err := range t.Updates(ctx) {
		last, failed = s, err
	}
	switch {
	case failed != nil:
		return failed
	case last.Status == "ended" && last.Outcome != "completed":
		return &Ended{last.Outcome}
	}
	return nil
}

// Updates yields the state now and after each change, until the seller holds the lock or the place has ended.
// The last state has the status "locked" or "ended"; an error ends it, too.
func (t *Turn) Updates(ctx context.Context) iter.Seq2[State, error] {
	return func(yield func(State, error) bool) {
		var before State
		for s, err := range t.states(ctx) {
			if err == nil && s == before && !s.claim {
				continue
			}
			before = s
			if err == nil && s.Status == "locked" && s.claim {
				s, err = t.claim(ctx, s)
			}
			if err == nil && s.Status == "waiting" && s.claim {
				_, err = t.claim(ctx, State{}) // its turn passed unclaimed: it is back
			}
			if !yield(s, err) || err != nil || s.Status != "waiting" {
				return
			}
		}
	}
}

// claim confirms that the seller is present. It is no error if there was nothing to claim, or the lease has
// ended meanwhile.
func (t *Turn) claim(ctx context.Context, s State) (State, error) {
	q := t.request(http.MethodPost, "/lock/claim")
	q.body = map[string]any{}
	if s.Fence != 0 {
		q.body = map[string]any{"fence": s.Fence}
	}
	var a answer
	err := t.c.call(ctx, q, &a)
	switch code(err) {
	case "stale_fence", "no_place":
		return t.look(ctx)
	}
	if err != nil {
		return State{}, err
	}
	s = a.state()
	s.claim = false
	t.observe(s)
	return s, nil
}

// Done gives the lock back after the seller has used the code. It is no error if a message has already ended
// the turn. While the seller waits, it fails with ErrNotYet and changes nothing.
func (t *Turn) Done(ctx context.Context) error {
	if t.lastFence() == 0 { // such as of a turn that was resumed
		s, err := t.look(ctx)
		switch {
		case errors.Is(err, ErrNoTurn):
			return t.forget(ctx, nil)
		case err != nil:
			return err
		case s.Status == "waiting":
			return ErrNotYet
		}
	}
	return t.leave(ctx, "completed", t.lastFence())
}

// Leave gives the place up, waiting or not. It is no error if the place has ended.
func (t *Turn) Leave(ctx context.Context) error { return t.leave(ctx, "cancelled", 0) }

func (t *Turn) leave(ctx context.Context, reason string, fence int64) error {
	err := t.release(ctx, reason, fence)
	if _, over := errors.AsType[*Ended](err); over || err == nil {
		return t.forget(ctx, err)
	}
	return err
}

// forget removes the session from the store, since the turn is over, and returns the turn's own error.
func (t *Turn) forget(ctx context.Context, err error) error {
	if failed := t.kept.save(ctx, ""); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// release ends the place at the server. If the place has ended already, that is no error for "cancelled" or
// for the same outcome; otherwise release returns *Ended.
func (t *Turn) release(ctx context.Context, reason string, fence int64) error {
	q := t.request(http.MethodDelete, "/lock")
	q.query = url.Values{"reason": {reason}}
	if fence != 0 {
		q.query.Set("fence", strconv.FormatInt(fence, 10))
	}
	var a answer
	err := t.c.call(ctx, q, &a)
	if code(err) == "no_place" { // also where the answer to an earlier try was lost
		s, looked := t.look(ctx)
		switch {
		case errors.Is(looked, ErrNoTurn) || looked == nil && (s.Outcome == reason || reason == "cancelled"):
			return nil
		case looked != nil:
			return looked
		}
		return &Ended{s.Outcome}
	}
	if err == nil {
		s := t.State()
		s.Status, s.Outcome = "ended", a.Outcome
		t.observe(s)
	}
	return err
}
