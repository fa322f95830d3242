package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waitroom/waitroom/client"
)

// join joins the line, or continues the place of an earlier call or process.
func (t *tools) join(ctx context.Context, _ *mcp.CallToolRequest, in joining) (output, error) {
	room, err := t.roomOf(in.inRoom)
	if err != nil {
		return output{}, err
	}
	ctx, cancel := t.answering(ctx)
	defer cancel()
	seller := cmp.Or(in.Seller, t.cfg.Seller)
	if seller == "" && !t.cfg.Proven {
		return output{}, errNoSeller
	}
	release, err := t.alone(ctx, room)
	if err != nil {
		return output{}, err
	}
	defer release()
	p, err := t.held(ctx, room)
	if err != nil && !errors.Is(err, errNoPlace) {
		return output{}, err
	}
	if p != nil {
		s, live, err := p.look(ctx, t.cfg.Client)
		switch {
		case err != nil:
			return output{}, err
		case live && p.seller != seller:
			return output{}, errAnother
		case live:
			return outputOf(s), nil
		}
		p.stop()
	}
	session, err := t.sessionOf(room, seller)
	if err != nil {
		return output{}, err
	}
	if p == nil && t.cfg.Keep != nil && seller != "" { // a token alone may name another seller than before
		p, err = t.completed(ctx, room, seller, session)
		if err != nil {
			return output{}, err
		}
		if p != nil {
			return output{Status: "ended", Outcome: p.turn.State().Outcome, Next: "A text ended the turn while " +
				"this program was not running: call receive_code. If there is no code, or you had it before, call " +
				"join again."}, nil
		}
	}
	turn, err := t.cfg.Client.Join(ctx, room, seller, client.Session(session))
	if err != nil {
		if ctx.Err() != nil {
			t.mu.Lock()
			t.tried[room] = attempt{seller, session}
			t.mu.Unlock()
		}
		return output{}, err
	}
	t.take(room, seller, turn)
	return outputOf(turn.State()), nil
}

// completed returns the place of a session whose turn a code has completed, such as while no process ran; nil
// if there is none. Its code is received in the background.
func (t *tools) completed(ctx context.Context, room, seller, session string) (*place, error) {
	turn, err := t.cfg.Client.Resume(ctx, room, session)
	switch {
	case errors.Is(err, client.ErrNoTurn):
		return nil, nil
	case err != nil:
		return nil, err
	case turn.State().Outcome != "completed":
		return nil, nil
	}
	p := t.take(room, seller, turn)
	p.begin(t, nil)
	return p, nil
}

// answering bounds a call that the server answers at once, so that an agent soon reads that it does not.
func (t *tools) answering(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(t.cfg.Patience, answerWithin))
}

// reach returns an error if the server does not answer, before a longer wait for it.
func (t *tools) reach(ctx context.Context, p *place) error {
	ctx, cancel := t.answering(ctx)
	defer cancel()
	_, _, err := p.look(ctx, t.cfg.Client)
	return err
}

// look asks the server for the state of a place, and reports whether the place is live.
func (p *place) look(ctx context.Context, c *client.Client) (s client.State, live bool, err error) {
	again, err := c.Resume(ctx, p.room, p.turn.Session())
	if errors.Is(err, client.ErrNoTurn) {
		return client.State{}, false, nil
	}
	if err != nil {
		return client.State{}, false, err
	}
	s = again.State()
	return s, s.Status == "waiting" || s.Status == "locked", nil
}

// sessionOf returns the stored session of a room and seller, or a new one that it has stored.
func (t *tools) sessionOf(room, seller string) (string, error) {
	session := uuid.NewString()
	if t.cfg.Keep == nil {
		return session, nil
	}
	name := nameOf(room, seller)
	kept, err := t.cfg.Keep.Load(name)
	if err != nil || kept != "" {
		return kept, err
	}
	return session, t.cfg.Keep.Store(name, session)
}

// nameOf names a place for the store. A room's id has no space.
func nameOf(room, seller string) string { return room + " " + seller }

// wait waits for the turn, as long as a tool call may take.
func (t *tools) wait(ctx context.Context, r *mcp.CallToolRequest, in inRoom) (output, error) {
	p, err := t.placeOf(in)
	if err != nil {
		return output{}, err
	}
	if err := t.reach(ctx, p); err != nil {
		return output{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, t.cfg.Patience)
	defer cancel()
	last, n := p.turn.State(), 0
	for s, err := range p.turn.Updates(bounded) {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && n > 0 {
			break
		}
		if err != nil {
			return output{}, err
		}
		last = s
		n++
		progress(ctx, r, n, change(s))
	}
	return outputOf(last), nil
}

// change describes a new state in a few words.
func change(s client.State) string {
	switch s.Status {
	case "waiting":
		return fmt.Sprintf("position %d", s.Position)
	case "locked":
		return "your turn"
	}
	return "the place has ended"
}

// done ends the turn.
func (t *tools) done(ctx context.Context, _ *mcp.CallToolRequest, in inRoom) (output, error) {
	return t.end(ctx, in, (*client.Turn).Done)
}

// leave gives the place up.
func (t *tools) leave(ctx context.Context, _ *mcp.CallToolRequest, in inRoom) (output, error) {
	return t.end(ctx, in, (*client.Turn).Leave)
}

func (t *tools) end(ctx context.Context, in inRoom,
	end func(*client.Turn, context.Context) error) (output, error) {
	room, err := t.roomOf(in)
	if err != nil {
		return output{}, err
	}
	ctx, cancel := t.answering(ctx)
	defer cancel()
	release, err := t.alone(ctx, room)
	if err != nil {
		return output{}, err
	}
	defer release()
	p, err := t.held(ctx, room)
	if err != nil {
		return output{}, err
	}
	if err := end(p.turn, ctx); err != nil {
		return output{}, err
	}
	if t.cfg.Keep != nil {
		if err := t.cfg.Keep.Store(nameOf(p.room, p.seller), ""); err != nil {
			return output{}, err
		}
	}
	return outputOf(p.turn.State()), nil
}
