package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// callTimeout is how long a seller waits for an answer.
const callTimeout = 3 * time.Second

const maxAnswer = 64 << 10

// call is one request.
type call struct {
	op, method, path, body string
	room, session, key     string
	fence                  int64
	message                string
	header                 http.Header
}

// answer is what is read of any answer of the API.
type answer struct {
	http      int
	Status    string
	Outcome   string
	Ticket    int64
	Fence     int64
	Epoch     int64
	Version   int64
	Position  int64      `json:"queue_position"`
	Length    int64      `json:"queue_length"`
	GrantedAt *time.Time `json:"granted_at"`
	ExpiresAt *time.Time `json:"expires_at"`
	Unclaimed bool
	Server    int64  `json:"server_time"`
	Code      string // of a problem
	Result    string // of a message
	Reason    string
	Me        json.RawMessage
}

// ask sends a request to one replica and records it. An error means that there was no answer.
func (p *replica) ask(ctx context.Context, c call) (answer, error) {
	began := p.run.history.Now()
	got, err := p.do(ctx, c)
	r := Record{Kind: KindCall, Began: began, Op: c.op, Room: c.room, Session: c.session, Replica: p.name,
		Message: c.message}
	r.Fence = c.fence // of a call that names one
	if err != nil {
		r.Error = err.Error()
		p.run.history.Add(r)
		return got, err
	}
	got = got.mine(c.op)
	got.record(&r)
	p.run.history.Add(r)
	return got, nil
}

// do sends a request without recording it.
func (p *replica) do(ctx context.Context, c call) (got answer, err error) {
	req, err := http.NewRequestWithContext(ctx, c.method, p.url()+c.path, strings.NewReader(c.body))
	if err != nil {
		return got, err
	}
	if c.header != nil {
		req.Header = c.header
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
	resp, err := p.client.Do(req)
	if err != nil {
		return got, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return got, err
	}
	got.http = resp.StatusCode
	to := any(&got)
	if resp.StatusCode >= http.StatusBadRequest {
		to = &struct{ Code *string }{&got.Code} // its status is a number
	}
	if err := json.Unmarshal(text, to); err != nil && resp.StatusCode < http.StatusInternalServerError {
		return got, fmt.Errorf("%s %s answers %d, not JSON: %w", c.method, c.path, resp.StatusCode, err)
	}
	return got, nil
}

// mine returns the part of a status answer about the session's own place.
func (a answer) mine(op string) answer {
	if op != "status" || a.http != http.StatusOK {
		return a
	}
	me := answer{http: a.http, Status: "idle"}
	if len(a.Me) > 0 && string(a.Me) != "null" {
		_ = json.Unmarshal(a.Me, &me) // it was part of what was read
	}
	me.Epoch, me.Version, me.Server = a.Epoch, a.Version, a.Server
	return me
}

func (a answer) record(r *Record) {
	r.HTTP, r.Problem = a.http, a.Code
	r.Epoch, r.Version, r.ServerTime = a.Epoch, a.Version, a.Server
	r.Status, r.Outcome, r.Result = a.Status, a.Outcome, a.Result
	r.Ticket, r.Position, r.Length, r.Unclaimed = a.Ticket, a.Position, a.Length, a.Unclaimed
	if a.Fence != 0 {
		r.Fence = a.Fence
	}
	if a.GrantedAt != nil {
		r.GrantedAt = a.GrantedAt.UnixMilli()
	}
	if a.ExpiresAt != nil {
		r.ExpiresAt = a.ExpiresAt.UnixMilli()
	}
	if r.Status == "released" || r.Status == "left" {
		r.Status = "ended"
	}
}
