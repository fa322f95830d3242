package mcpserver

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waitroom/waitroom/client"
)

// late is how long a code is waited for after the end of a turn.
const late = time.Minute

// ask asks for a code, and returns when the marketplace may send it. While the number is busy a later call
// goes on waiting, and asks for no second code.
func (t *tools) ask(ctx context.Context, r *mcp.CallToolRequest, in askingFrom) (output, error) {
	p, err := t.placeOf(in.inRoom)
	if err != nil {
		return output{}, err
	}
	if len(p.codes) > 0 {
		return output{}, errUnread
	}
	if err := t.reach(ctx, p); err != nil {
		return output{}, err
	}
	asked := p.begin(t, in.From)
	progress(ctx, r, 1, "the number may be busy with an earlier seller's code")
	select {
	case <-asked.free:
	case <-asked.done:
	case <-time.After(t.cfg.Patience):
		if s, live, err := p.look(ctx, t.cfg.Client); err == nil && !live {
			return outputOf(s), nil // a late code is still waited for
		}
		return output{Status: "number_busy", Next: "An earlier seller's code may still come. Do not press yet: " +
			"call ask_for_code again."}, nil
	case <-ctx.Done():
		return output{}, ctx.Err()
	}
	free := isClosed(asked.free)
	p.mu.Lock()
	asked.reported, asked.refused = true, !free && asked.err != nil
	p.mu.Unlock()
	switch {
	case free:
		return output{Status: "press_now", LeftSeconds: left(p.turn.State()),
			Next: "Press \"send code\" at the marketplace now, then call receive_code."}, nil
	case asked.err != nil:
		return output{}, asked.err
	}
	return output{}, errUnread // the turn was over, and its code had come
}

// begin runs Turn.Code in the background, unless a call is pending whose result the agent has not read. An
// earlier call continues beside it: its code may still come, and is returned once.
func (p *place) begin(t *tools, from []string) *asking {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked != nil && !p.asked.reported {
		return p.asked
	}
	a := &asking{free: make(chan struct{}), done: make(chan struct{})}
	p.asked = a
	if p.calls == 0 {
		p.idle = make(chan struct{})
	}
	p.calls++
	t.work.Go(func() {
		code, err := p.turn.Code(p.ctx, client.From(from...), client.Late(late),
			client.Ask(func(context.Context) error { close(a.free); return nil }))
		if err == nil {
			p.codes <- code
		}
		a.err = err
		close(a.done)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.calls--; p.calls == 0 {
			close(p.idle)
		}
	})
	return a
}

// receive returns the next code, or reports that none has come yet.
func (t *tools) receive(ctx context.Context, r *mcp.CallToolRequest, in inRoom) (output, error) {
	p, err := t.placeOf(in)
	if err != nil {
		return output{}, err
	}
	p.mu.Lock()
	idle, asked := p.idle, p.asked
	p.mu.Unlock()
	if asked == nil {
		return output{}, errNoAsk
	}
	progress(ctx, r, 1, "waiting for the text")
	select {
	case code := <-p.codes:
		return p.received(code), nil
	case <-idle:
		select {
		case code := <-p.codes:
			return p.received(code), nil
		default:
			return output{}, p.noCode(asked)
		}
	case <-time.After(t.cfg.Patience):
		return output{Status: "no_code_yet", LeftSeconds: left(p.turn.State()), Next: "Call receive_code again. " +
			"To have the marketplace send it once more, call ask_for_code first."}, nil
	case <-ctx.Done():
		return output{}, ctx.Err()
	}
}

// noCode returns why no code can come any more. It does not repeat the error of a refused ask: the agent has
// read that, and it may not be true any more.
func (p *place) noCode(asked *asking) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if asked.err == nil || asked.refused {
		return errNoAsk
	}
	return asked.err
}

func (p *place) received(code client.Code) output {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = code
	return output{Status: "code", Code: code.Code, Text: code.Text, Late: code.Late,
		Next: "Enter the code at the marketplace. If it accepts the code, call done; if not, reject_code."}
}

// reject rejects the code that was received last.
func (t *tools) reject(ctx context.Context, _ *mcp.CallToolRequest, in inRoom) (output, error) {
	p, err := t.placeOf(in)
	if err != nil {
		return output{}, err
	}
	p.mu.Lock()
	last := p.last
	p.mu.Unlock()
	if last.MessageID == "" {
		return output{}, errNoCode
	}
	ctx, cancel := t.answering(ctx)
	defer cancel()
	if err := p.turn.Reject(ctx, last); err != nil {
		return output{}, err
	}
	p.mu.Lock()
	p.last = client.Code{}
	p.mu.Unlock()
	s, _, err := p.look(ctx, t.cfg.Client)
	if err != nil {
		return output{}, err
	}
	if s.Status != "ended" {
		return output{Status: "rejected", LeftSeconds: left(s), Next: "Call ask_for_code, then have the " +
			"marketplace send another code."}, nil
	}
	p.begin(t, nil) // asks for nothing, since the turn is over: it only waits
	return output{Status: "rejected", Outcome: s.Outcome, Next: "The turn is over, but the right code " +
		"may still come: call receive_code. Else call join to stand in line again."}, nil
}
