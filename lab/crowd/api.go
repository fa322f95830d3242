package crowd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	requestTimeout = 10 * time.Second
	requesters     = 32 // requests under way at a time
	maxAnswer      = 64 << 10
)

// call is a request that may be repeated.
type call struct {
	method, path, body string
	session, key       string
	header             func() http.Header // made for each attempt; nil = none
}

// answer has the fields that are read of any answer of the API.
type answer struct {
	status int
	took   time.Duration
	after  time.Duration // Retry-After

	Status    string
	Outcome   string
	Ticket    int64
	Fence     int64
	Epoch     int64
	Version   int64
	Position  int64      `json:"queue_position"`
	Length    int64      `json:"queue_length"`
	ExpiresAt *time.Time `json:"expires_at"`
	AskAfter  *time.Time `json:"ask_after"`
	Code      string     // of a problem
	Result    string     // of a message
	Reason    string
	Me        *answer
}

// state returns the state in an answer about the session's own place.
func (a *answer) state() State {
	s := State{Epoch: a.Epoch, Version: a.Version, Status: a.Status, Outcome: a.Outcome, Ticket: a.Ticket,
		Position: a.Position,
		Length:   a.Length, Fence: a.Fence}
	if a.ExpiresAt != nil {
		s.ExpiresAt = a.ExpiresAt.UnixMilli()
	}
	if s.Status == "released" || s.Status == "left" {
		s.Status = "ended"
	}
	return s
}

// mine returns the session's state in an answer of GET status.
func (a *answer) mine() State {
	if a.Me == nil {
		return State{Epoch: a.Epoch, Version: a.Version, Status: "idle"}
	}
	s := a.Me.state()
	s.Epoch, s.Version = a.Epoch, a.Version
	return s
}

// api makes the requests of all sellers in a few goroutines, so that the sellers' own goroutines keep small
// stacks.
type api struct {
	client *http.Client
	work   chan func()
	all    sync.WaitGroup
}

func newAPI(d Dialer) *api {
	a := &api{client: d.client(requesters), work: make(chan func())}
	for range requesters {
		a.all.Go(func() {
			for f := range a.work {
				f()
			}
		})
	}
	return a
}

// close waits for the requests in progress.
func (a *api) close() {
	close(a.work)
	a.all.Wait()
	a.client.CloseIdleConnections()
}

// do sends a request once; an error means that there was no answer.
func (a *api) do(base string, c call) (got answer, err error) {
	done := make(chan struct{})
	a.work <- func() {
		defer close(done)
		got, err = a.ask(base, c)
	}
	<-done
	return got, err
}

func (a *api) ask(base string, c call) (got answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, c.method, base+c.path, bytes.NewReader([]byte(c.body)))
	if err != nil {
		return got, err
	}
	if c.header != nil {
		req.Header = c.header()
	}
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.session != "" {
		req.Header.Set("X-Session-ID", c.session)
	}
	if c.key != "" {
		req.Header.Set("Idempotency-Key", c.key)
	}
	began := time.Now()
	resp, err := a.client.Do(req)
	if err != nil {
		return got, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return got, err
	}
	var problem struct {
		Code     string
		AskAfter *time.Time `json:"ask_after"`
	}
	to := any(&got)
	if resp.StatusCode >= http.StatusBadRequest {
		to = &problem // its status is a number
	}
	if err := json.Unmarshal(text, to); err != nil {
		return got, fmt.Errorf("%s %s answers %d, not JSON: %w", c.method, c.path, resp.StatusCode, err)
	}
	if problem.Code != "" {
		got.Code, got.AskAfter = problem.Code, problem.AskAfter
	}
	got.status, got.took = resp.StatusCode, time.Since(began)
	if seconds, err := time.ParseDuration(resp.Header.Get("Retry-After") + "s"); err == nil {
		got.after = seconds
	}
	return got, nil
}
