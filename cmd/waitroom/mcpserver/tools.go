package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waitroom/waitroom/client"
)

// inRoom has the arguments of most tools.
type inRoom struct {
	Room string `json:"room,omitempty" jsonschema:"the room, which stands for one shared number; needed only if no default is set"`
}

// joining has the arguments of join.
type joining struct {
	inRoom
	Seller string `json:"seller,omitempty" jsonschema:"the seller's id; needed only if no default is set"`
}

// askingFrom has the arguments of ask_for_code.
type askingFrom struct {
	inRoom
	From []string `json:"from,omitempty" jsonschema:"the numbers that the code comes from, such as 15881234"`
}

// output is what a tool returns. It has no session, and no code but the turn's own.
type output struct {
	Status      string `json:"status" jsonschema:"waiting, your_turn, press_now, number_busy, no_code_yet, code, rejected or ended"`
	Next        string `json:"next" jsonschema:"what to do now"`
	Notice      string `json:"notice,omitempty" jsonschema:"what support announces to all who wait"`
	Position    int    `json:"position,omitempty" jsonschema:"in line; 1 is next"`
	WaitSeconds int    `json:"estimated_wait_seconds,omitempty"`
	LeftSeconds int    `json:"turn_ends_in_seconds,omitempty"`
	Code        string `json:"code,omitempty"`
	Text        string `json:"text,omitempty" jsonschema:"the whole message that the code came in"`
	Late        bool   `json:"late,omitempty" jsonschema:"the code came after the end of the turn; it may still work"`
	Outcome     string `json:"outcome,omitempty" jsonschema:"how the turn ended"`
}

// tools are the places of one agent, one in each room.
type tools struct {
	cfg  Config
	ctx  context.Context // ends with the process
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	places map[string]*place        // by room
	tried  map[string]attempt       // by room: a join without an answer, which may have made a place
	doors  map[string]chan struct{} // by room: full while a call joins, leaves or is done
}

// attempt is a join whose answer did not come.
type attempt struct{ seller, session string }

// newTools returns tools whose work in the background ends with ctx or close.
func newTools(ctx context.Context, c Config) *tools {
	t := &tools{cfg: c, places: make(map[string]*place), tried: make(map[string]attempt),
		doors: make(map[string]chan struct{})}
	t.ctx, t.stop = context.WithCancel(ctx)
	return t
}

// close ends the work in the background, and leaves the places that no later process can continue.
func (t *tools) close() {
	t.stop()
	t.work.Wait()
	if t.cfg.Keep != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	for room := range t.doors { // no call is left that could open another
		if p, err := t.held(ctx, room); err == nil {
			_ = p.turn.Leave(ctx) // on failure the lease or the absence ends the place
		}
	}
}

var (
	errNoRoom   = errors.New("name the room: there is no default")
	errNoSeller = errors.New("name the seller: there is no default")
	errNoPlace  = errors.New("there is no place in this room: call join first")
	errAnother  = errors.New("there is a place in this room for another seller: call leave first")
	errNoAsk    = errors.New("no code is on its way: call ask_for_code, press \"send code\", then receive_code")
	errNoCode   = errors.New("there is no code to reject: call receive_code first")
	errUnread   = errors.New("a code has come already: call receive_code before you ask for another one")
)

// advise adds to an error what the agent can do about it. No error of the client has a secret.
func advise(err error) error {
	if ended, over := errors.AsType[*client.Ended](err); over {
		return fmt.Errorf("%w. %s", err, afterEnd(ended.Outcome))
	}
	switch {
	case errors.Is(err, client.ErrNoTurn):
		return fmt.Errorf("%w: call join", err)
	case errors.Is(err, client.ErrNotYet):
		return fmt.Errorf("%w: call wait_for_turn", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("waitroom did not answer in time; call the tool again, and check the server's URL: %w",
			err)
	}
	return err
}

func afterEnd(outcome string) string {
	if outcome == "completed" {
		return "Nothing is left to do."
	}
	return "Call join to stand in line again."
}

// place is the agent's place in a room.
type place struct {
	room, seller string
	turn         *client.Turn
	ctx          context.Context // ends with the process, or when another place replaces this one
	stop         context.CancelFunc
	codes        chan client.Code // that came and were not received yet

	mu    sync.Mutex
	asked *asking       // the last one; nil = no code was asked for
	calls int           // of Turn.Code that run
	idle  chan struct{} // closed when none runs any more
	last  client.Code   // that was received; zero = none
}

// asking is one call of Turn.Code.
type asking struct {
	free chan struct{} // closed when the marketplace may send the code
	done chan struct{} // closed when the call has returned
	err  error         // of the call, once it has returned

	// guarded by place.mu
	reported bool // the agent has read that it may press, or the error
	refused  bool // it has read the error, and may not press
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// mostCodes bounds the codes of one turn that were not received; the server allows ten asks.
const mostCodes = 16

func (t *tools) roomOf(in inRoom) (string, error) {
	if room := strings.TrimSpace(in.Room); room != "" {
		return room, nil
	}
	if t.cfg.Room == "" {
		return "", errNoRoom
	}
	return t.cfg.Room, nil
}

func (t *tools) placeOf(in inRoom) (*place, error) {
	room, err := t.roomOf(in)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.places[room]; p != nil {
		return p, nil
	}
	return nil, errNoPlace
}

// alone waits until no other call changes the place in a room, and lets none begin until the caller calls
// release. So two joins at once make one place.
func (t *tools) alone(ctx context.Context, room string) (release func(), err error) {
	t.mu.Lock()
	door := t.doors[room]
	if door == nil {
		door = make(chan struct{}, 1)
		t.doors[room] = door
	}
	t.mu.Unlock()
	select {
	case door <- struct{}{}:
		return func() { <-door }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// held returns the place in a room, also one that a join without an answer has made. The caller is alone.
func (t *tools) held(ctx context.Context, room string) (*place, error) {
	t.mu.Lock()
	a, tried := t.tried[room]
	t.mu.Unlock()
	if !tried {
		return t.placeOf(inRoom{room})
	}
	turn, err := t.cfg.Client.Resume(ctx, room, a.session)
	if err != nil && !errors.Is(err, client.ErrNoTurn) {
		return nil, err
	}
	t.mu.Lock()
	delete(t.tried, room)
	t.mu.Unlock()
	if err != nil { // it has made none
		return t.placeOf(inRoom{room})
	}
	return t.take(room, a.seller, turn), nil
}

// take makes a turn the agent's place in a room.
func (t *tools) take(room, seller string, turn *client.Turn) *place {
	p := &place{room: room, seller: seller, turn: turn, codes: make(chan client.Code, mostCodes)}
	p.ctx, p.stop = context.WithCancel(t.ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.places[room] = p
	return p
}

// outputOf describes a place's state, and what to do next.
func outputOf(s client.State) output {
	switch s.Status {
	case "waiting":
		next := "Call wait_for_turn."
		if s.Paused {
			next = "Support has paused the line. Call wait_for_turn."
		}
		return output{Status: "waiting", Next: next, Notice: s.Notice.Text, Position: s.Position,
			WaitSeconds: int(s.Estimated / time.Second)}
	case "locked":
		return output{Status: "your_turn", Next: "Call ask_for_code, then press \"send code\" at the marketplace.",
			LeftSeconds: left(s)}
	}
	return output{Status: "ended", Outcome: s.Outcome, Next: afterEnd(s.Outcome)}
}

// left returns the remaining whole seconds of a lease. The clocks of server and agent may differ.
func left(s client.State) int { return max(int(time.Until(s.ExpiresAt)/time.Second), 0) }

// progress sends the agent a notification for the wait in progress, if it asked for such.
func progress(ctx context.Context, r *mcp.CallToolRequest, n int, message string) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return
	}
	_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n),
		Message: message}) // a lost notification does not matter
}
