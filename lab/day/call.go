package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/waitroom/waitroom/lab/crowd"
)

// counts are the numbers of what was done.
type counts struct{ calls, leases, waiters, sockets, asks, messages, actions atomic.Int64 }

func (c *counts) String() string {
	return fmt.Sprintf("%d leases, %d waiters who left, %d sockets, %d asks, %d messages, %d actions of "+
		"support, %d calls",
		c.leases.Load(), c.waiters.Load(), c.sockets.Load(), c.asks.Load(), c.messages.Load(), c.actions.Load(),
		c.calls.Load())
}

// people numbers sellers: each is new and has an address of its own.
type people struct{ n atomic.Int64 }

func (p *people) next() *seller {
	n := p.n.Add(1)
	return &seller{session: uuid.NewString(), name: fmt.Sprint("s-", n),
		addr: fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255), n: n}
}

// seller has one place in its life.
type seller struct {
	session, name, addr string
	n, ticket, fence    int64
	socket              *crowd.Socket
}

// answer is what is read of any answer.
type answer struct {
	Status, Outcome, Result, Reason string
	Ticket, Fence                   int64
	http                            int
	text                            string
}

// call is one request, and the status that its answer has to have.
type call struct {
	method, path, body string
	header             http.Header
	want               int
	client             *http.Client // nil: the sellers'
}

// do sends a request to one of the replicas, in turn.
func (d *day) do(ctx context.Context, c call) (got answer, err error) {
	n := d.count.calls.Add(1)
	req, err := http.NewRequestWithContext(ctx, c.method, d.replicas[n%2].URL()+c.path,
		bytes.NewReader([]byte(c.body)))
	if err != nil {
		return got, err
	}
	if c.header != nil {
		req.Header = c.header
	}
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	client := c.client
	if client == nil {
		client = d.client
	}
	resp, err := client.Do(req)
	if err != nil {
		return got, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return got, err
	}
	got.http, got.text = resp.StatusCode, string(text)
	if c.want != 0 && got.http != c.want {
		return got, fmt.Errorf("%s %s answers %d: %s", c.method, c.path, got.http, got.text)
	}
	if got.http < http.StatusBadRequest {
		err = json.Unmarshal(text, &got)
	}
	return got, err
}

// as returns a request with a seller's session and address.
func (s *seller) as(c call) call {
	c.header = http.Header{"X-Session-Id": {s.session}, "X-Forwarded-For": {s.addr}}
	return c
}

// text returns the request of a carrier's message, signed at Redis's time.
func (d *day) text(id, body string, sent time.Time) call {
	// strings always marshal
	fields, _ := json.Marshal(map[string]any{"message_id": id, "from": "15881234", "text": body,
		"sent_at": sent.UTC().Format("2006-01-02T15:04:05.000Z07:00")})
	now := d.now()
	signature, _ := d.signer.Sign(id, now, fields) // an HMAC does not fail
	return call{method: http.MethodPost, body: string(fields), want: http.StatusOK,
		header: http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)},
			"Webhook-Signature": {signature}}}
}
