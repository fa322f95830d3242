package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/waitroom/waitroom/lab/crowd"
)

const shownWithin = 10 * time.Second

// room is one of the rooms that are used all day.
type room struct {
	*day
	id   string
	next *seller // waits for the lease that ends by itself
}

func (r *room) path(rest string) string { return "/api/" + r.id + rest }

// join takes a place for a new seller.
func (r *room) join(ctx context.Context, want int) (*seller, error) {
	s := r.people.next()
	return s, r.press(ctx, s, want)
}

// press joins a seller, who may have a place already.
func (r *room) press(ctx context.Context, s *seller, want int) error {
	got, err := r.do(ctx, s.as(call{method: http.MethodPost, path: r.path("/lock"),
		body: fmt.Sprintf(`{"seller_id":%q,"asks":true}`, s.name), want: want}))
	s.ticket, s.fence = got.Ticket, got.Fence
	return err
}

// leave ends a seller's place.
func (r *room) leave(ctx context.Context, s *seller, reason string) error {
	_, err := r.do(ctx, s.as(call{method: http.MethodDelete, path: r.path("/lock?reason=" + reason),
		want: http.StatusOK}))
	return err
}

func (r *room) ended(ctx context.Context, s *seller, reason string) error {
	r.count.leases.Add(1)
	return r.leave(ctx, s, reason)
}

// ask announces that a code was asked for.
func (r *room) ask(ctx context.Context, s *seller) error {
	r.count.asks.Add(1)
	_, err := r.do(ctx, s.as(call{method: http.MethodPost, path: r.path("/lock/expect"),
		body: fmt.Sprintf(`{"fence":%d}`, s.fence), want: http.StatusOK}))
	return err
}

// message posts a carrier's message and returns its result.
func (r *room) message(ctx context.Context, s *seller, text string) (string, error) {
	n := r.count.messages.Add(1)
	c := r.text(fmt.Sprint("m-", n), fmt.Sprintf(text, s.n%1e6), r.now())
	c.path = r.path("/sms")
	got, err := r.do(ctx, c)
	return got.Result, err
}

// connect opens a seller's socket on the next replica, and reads its first state.
func (r *room) connect(ctx context.Context, s *seller) (err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	n := r.count.sockets.Add(1)
	if s.socket, err = (crowd.Dialer{}).Dial(ctx, r.replicas[n%2].URL(), r.id, s.session); err != nil {
		return err
	}
	return s.await(`"type":"state"`)
}

// await reads until a frame contains a text.
func (s *seller) await(what string) error {
	deadline := time.Now().Add(shownWithin)
	for {
		frame, err := s.socket.Read(deadline)
		if err != nil {
			return fmt.Errorf("%s did not get %s: %w", s.name, what, err)
		}
		if bytes.Contains(frame, []byte(what)) {
			return nil
		}
	}
}

func (s *seller) disconnect() {
	if s.socket != nil {
		_ = s.socket.Close()
	}
}
