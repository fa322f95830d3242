package clients

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waitroom/waitroom/client"
)

var languages = append([]language{{name: "go", join: joinInGo, resume: resumeInGo, proven: provenInGo, within: joinInGoWithin},
	processes("javascript", "node", "driver.mjs", "../../../clients/js/waitroom.js"),
	processes("python", "python3", "driver.py", "../../../clients/python")}, withSockets()...)

// withSockets returns JavaScript in a Node that has WebSocket only with a flag: from 20.10 on, and before 22.
func withSockets() []language {
	const flag = "--experimental-websocket"
	if exec.Command("node", flag, "--eval", "WebSocket").Run() != nil {
		return nil
	}
	return []language{processes("javascript with sockets", "node", flag, "driver.mjs",
		"../../../clients/js/waitroom.js")}
}

type goRobot struct {
	turn     *client.Turn
	last     client.Code
	patience time.Duration // of a call; 0 = its context's

	mu    sync.Mutex
	shown []int
}

func joinInGo(ctx context.Context, t *testing.T, url, room, seller string) (robot, error) {
	c, err := client.New(url, client.Config{})
	if err != nil {
		return nil, err
	}
	turn, err := c.Join(ctx, room, seller)
	return &goRobot{turn: turn}, said(err)
}

func resumeInGo(ctx context.Context, t *testing.T, url, room, session string) (robot, error) {
	c, err := client.New(url, client.Config{})
	if err != nil {
		return nil, err
	}
	turn, err := c.Resume(ctx, room, session)
	return &goRobot{turn: turn}, said(err)
}

func provenInGo(ctx context.Context, t *testing.T, url, room, portal string) (robot, error) {
	c, err := client.New(url, client.Config{Token: func(ctx context.Context) (string, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, portal, nil)
		if err != nil {
			return "", err
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			return "", errors.New("the portal is closed")
		}
		token, err := io.ReadAll(resp.Body)
		return string(token), err
	}})
	if err != nil {
		return nil, err
	}
	turn, err := c.Join(ctx, room, "")
	return &goRobot{turn: turn}, said(err)
}

func joinInGoWithin(ctx context.Context, t *testing.T, url, room string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := joinInGo(ctx, t, url, room, "a")
	return err
}

// said returns an error in the form that every client has.
func said(err error) error {
	if errors.Is(err, context.DeadlineExceeded) { // it has the last refusal, too
		return err
	}
	if ended, ok := errors.AsType[*client.Ended](err); ok {
		return errors.New(ended.Outcome)
	}
	if p, ok := errors.AsType[*client.Problem](err); ok && strings.Contains(p.Error(), p.Code) {
		return errors.New(p.Code)
	}
	if errors.Is(err, client.ErrNoTurn) {
		return errors.New("no_place")
	}
	return err
}

func (r *goRobot) wait(ctx context.Context) error {
	for s, err := range r.turn.Updates(ctx) {
		if err != nil {
			return said(err)
		}
		r.mu.Lock()
		r.shown = append(r.shown, s.Position)
		r.mu.Unlock()
	}
	return said(r.turn.Wait(ctx))
}

func (r *goRobot) code(ctx context.Context, from string, late time.Duration, sent func()) (string, bool,
	error) {
	ctx, cancel := r.bound(ctx)
	defer cancel()
	ask := client.Ask(func(context.Context) error {
		sent()
		return nil
	})
	c, err := r.turn.Code(ctx, client.From(from), client.Late(late), ask)
	r.last = c
	return c.Code, c.Late, said(err)
}

func (r *goRobot) reject(ctx context.Context) error { return said(r.turn.Reject(ctx, r.last)) }
func (r *goRobot) leave(ctx context.Context) error  { return said(r.turn.Leave(ctx)) }
func (r *goRobot) session() string                  { return r.turn.Session() }

func (r *goRobot) done(ctx context.Context) error {
	ctx, cancel := r.bound(ctx)
	defer cancel()
	return said(r.turn.Done(ctx))
}

func (r *goRobot) hurry(_ context.Context, patience time.Duration) error {
	r.patience = patience
	return nil
}

func (r *goRobot) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.patience == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, r.patience)
}

func (r *goRobot) positions() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown
}
