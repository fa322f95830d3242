package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

const (
	silentFor = 40 * time.Second // the server pings every 25 seconds
	handshake = 5 * time.Second  // of a socket with its first state: the seller is not away by then
	blocked   = 2                // sockets in a row that broke before a first state: states polls after that
	pollEvery = time.Second      // where sockets do not come through
	mostFrame = 1 << 16          // bytes
)

// frame is a state frame of the socket.
type frame struct {
	Type      string `json:"type"`
	Status    string `json:"status"`
	Outcome   string `json:"outcome"`
	Ticket    int64  `json:"ticket"`
	Position  int    `json:"queue_position"`
	Length    int    `json:"queue_length"`
	Estimated int64  `json:"estimated_wait"`
	Maximum   int64  `json:"maximum_wait"`
	Ends      int64  `json:"lease_expires_at"` // unix ms
	Fence     int64  `json:"fence"`
	Paused    bool   `json:"paused"`
	Notice    Notice `json:"notice"`
	ClaimBy   int64  `json:"claim_by"` // unix ms
	Unclaimed bool   `json:"unclaimed"`
}

func (f frame) state() State {
	s := State{Status: f.Status, Outcome: f.Outcome, Position: f.Position, Length: f.Length,
		Estimated: time.Duration(f.Estimated) * time.Second, Maximum: time.Duration(f.Maximum) * time.Second,
		Fence: f.Fence, Paused: f.Paused, Notice: f.Notice, Ticket: f.Ticket, claim: f.ClaimBy != 0 || f.Unclaimed}
	if f.Ends != 0 {
		s.ExpiresAt = time.UnixMilli(f.Ends).UTC()
	}
	return s
}

// errStay reports that the server closed the socket for good.
var errStay = errors.New("the server closed the socket for good")

// states yields the place's states. It uses a socket, which it reopens when it breaks, or polls if the server
// or a proxy allows no socket.
func (t *Turn) states(ctx context.Context) iter.Seq2[State, error] {
	return func(yield func(State, error) bool) {
		first, err := t.look(ctx)
		if !yield(first, err) || err != nil {
			return
		}
		polls, lost := false, 0
		for pause := firstPause; ; pause = min(2*pause, mostPause) {
			var opened, more bool
			if !polls {
				opened, more, err = t.socket(ctx, yield)
				if !more {
					return
				}
				lost++
				if opened {
					pause, lost = firstPause, 0
				}
				polls = lost == blocked || refusedUpgrade(err) || errors.Is(err, errStay)
			}
			wait := time.Duration(rand.Int64N(int64(pause)))
			if polls {
				wait = pollEvery
			}
			if err := sleep(ctx, wait, nil); err != nil {
				yield(State{}, err)
				return
			}
			s, err := t.look(ctx) // also while no socket comes through
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// socket yields the states of one socket until it breaks. opened reports whether a state came; more is false
// if the caller stopped.
func (t *Turn) socket(ctx context.Context, yield func(State, error) bool) (opened, more bool, err error) {
	u := *t.c.base
	u.Path += t.request("", "/ws").path
	begun := time.Now()
	conn, resp, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: t.c.http.Transport, CheckRedirect: stay, Timeout: handshake},
		HTTPHeader: t.c.headers(t.session)})
	if err != nil {
		return false, true, dialError{err, resp}
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(mostFrame)
	patience := handshake - time.Since(begun)
	for {
		f, err := read(ctx, conn, patience)
		if err != nil {
			if status := websocket.CloseStatus(err); status >= 4500 && status < 5000 {
				err = errStay
			}
			return opened, true, err
		}
		switch f.Type {
		case "ping":
			if err := conn.Write(ctx, websocket.MessageText, []byte(`{"type":"pong"}`)); err != nil {
				return opened, true, err
			}
		case "state":
			opened, patience = true, silentFor
			if f.Status == "idle" {
				return opened, yield(State{}, ErrNoTurn), nil
			}
			s := f.state()
			t.observe(s)
			if !yield(s, nil) {
				return opened, false, nil
			}
		}
	}
}

func read(ctx context.Context, conn *websocket.Conn, patience time.Duration) (f frame, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, text, err := conn.Read(ctx)
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(text, &f)
}

// dialError is the error of a socket that could not be opened.
type dialError struct {
	error
	resp *http.Response
}

// refusedUpgrade reports whether a server or a proxy answered that it opens no socket. A 5xx or a 429 is no
// such answer: the next attempt may succeed.
func refusedUpgrade(err error) bool {
	d, ok := errors.AsType[dialError](err)
	return ok && d.resp != nil && d.resp.StatusCode < 500 && d.resp.StatusCode != http.StatusTooManyRequests
}
