package main

import (
	"context"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/room"
)

// measured is a verb, and the calls before and after each measured call of it.
type measured struct {
	name    string
	config  func(*room.Config)
	prepare func(ctx context.Context, e *room.Engine, p *party) error
	call    func(ctx context.Context, e *room.Engine, p *party) error
}

// party is a room with its sellers.
type party struct {
	id       room.ID
	sessions []string
	fence    int64
}

func lock(c *room.Config) {
	*c = room.Config{Scripts: c.Scripts, Silent: true, Ephemeral: true, Outcomes: -1, Leases: -1, Recovery: -1}
}

func (p *party) join(ctx context.Context, e *room.Engine) error {
	session := room.NewSession()
	seller := fmt.Sprintf("s%d", len(p.sessions))
	if e.Config().Ephemeral {
		seller = ""
	}
	st, err := e.Join(ctx, p.id, room.JoinRequest{Session: session, Seller: seller, Fresh: e.Config().Ephemeral})
	if st.Lease != nil {
		p.fence = st.Lease.Fence
	}
	p.sessions = append(p.sessions, session)
	return err
}

func (p *party) leave(ctx context.Context, e *room.Engine) error {
	q := room.LeaveRequest{Session: p.sessions[0], Outcome: room.Completed}
	if e.Config().Ephemeral {
		q.Fence = p.fence // as the lock library sends it
	}
	_, err := e.Leave(ctx, p.id, q)
	return err
}

func (p *party) match(ctx context.Context, e *room.Engine) error {
	code := "482913"
	_, err := e.Match(ctx, p.id, room.MatchRequest{MessageID: room.NewSession(), Sender: "15881234",
		Shown: room.Message{Text: "code " + p.sessions[0], Code: &code}})
	return err
}

func joins(n int) func(context.Context, *room.Engine, *party) error {
	return func(ctx context.Context, e *room.Engine, p *party) error {
		for range n {
			if err := p.join(ctx, e); err != nil {
				return err
			}
		}
		return nil
	}
}

var join = func(ctx context.Context, e *room.Engine, p *party) error { return p.join(ctx, e) }
var leave = func(ctx context.Context, e *room.Engine, p *party) error { return p.leave(ctx, e) }

var verbs = []measured{
	{"join", nil, nil, join},
	{"join, and wait", nil, joins(3), join},
	{"leave", nil, joins(1), leave},
	{"leave with handoff", nil, joins(3), leave},
	{"match with handoff", nil, joins(3), func(ctx context.Context, e *room.Engine,
		p *party) error {
		return p.match(ctx, e)
	}},
	{"expect", func(c *room.Config) { c.Quarantine = -1 }, joins(2), func(ctx context.Context, e *room.Engine,
		p *party) error {
		_, err := e.Expect(ctx, p.id, room.ExpectRequest{Session: p.sessions[0], Fence: p.fence})
		return err
	}},
	{"expire, nothing due", nil, joins(3), func(ctx context.Context, e *room.Engine, p *party) error {
		_, err := e.Expire(ctx, p.id)
		return err
	}},
	{"look", nil, joins(3), func(ctx context.Context, e *room.Engine, p *party) error {
		_, _, err := e.Look(ctx, p.id, p.sessions[1])
		return err
	}},
	{"lock", lock, nil, join},
	{"unlock", lock, joins(1), leave},
}

// measure returns the instructions that a call takes, including the round trip of a PING.
func (v measured) measure(ctx context.Context, m *meter, c room.Config, calls int) (int, error) {
	if v.config != nil {
		v.config(&c)
	}
	e := room.New(m.rdb, c)
	parties := make([]*party, calls+20)
	for i := range parties {
		parties[i] = &party{id: room.ID(fmt.Sprintf("%s:%d", room.NewSession()[:8], i))}
		// The room exists and is in the index before: what is measured is the verb alone.
		if err := joins(1)(ctx, e, parties[i]); err != nil {
			return 0, err
		}
		if err := parties[i].leave(ctx, e); err != nil {
			return 0, err
		}
		parties[i].sessions = nil
		if v.prepare != nil {
			if err := v.prepare(ctx, e, parties[i]); err != nil {
				return 0, err
			}
		}
	}
	for _, p := range parties[calls:] {
		if err := v.call(ctx, e, p); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	n, err := m.count(ctx, calls, func(i int) error { return v.call(ctx, e, parties[i]) })
	if took := time.Since(began); took > 30*time.Second {
		return 0, fmt.Errorf("the calls took %v: rooms would be registered again within them", took)
	}
	return n, err
}
