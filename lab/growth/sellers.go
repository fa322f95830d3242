package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/waitroom/waitroom/lab/crowd"
)

const workers = 16

var client = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: workers}}

// get returns the body of an address that answers 200.
func get(url string) (string, error) {
	resp, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	return string(text), err
}

// seller is a session with one place.
type seller struct {
	room, session string
	ticket, fence int64
	socket        *crowd.Socket
	frame         int // bytes of its first
}

// ask calls the API for a seller and stores the ticket and fence in the answer.
func (s *seller) ask(l *lab, method, path string, body []byte, header http.Header) error {
	req, err := http.NewRequest(method, l.url+"/api/"+s.room+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Content-Type", "application/json")
	if s.session != "" {
		req.Header.Set("X-Session-ID", s.session)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s", method, path, text)
	}
	var got struct{ Ticket, Fence int64 }
	if err := json.Unmarshal(text, &got); err != nil {
		return err
	}
	s.ticket, s.fence = got.Ticket, got.Fence
	return nil
}

func (s *seller) join(l *lab) error {
	return s.ask(l, http.MethodPost, "/lock",
		fmt.Appendf(nil, `{"seller_id":"s-%s","asks":true}`, s.session[:8]), nil)
}

func (s *seller) leave(l *lab) error {
	return s.ask(l, http.MethodDelete, "/lock?reason=completed", nil, nil)
}

// code asks for a code and delivers it, which ends the lease.
func (s *seller) code(l *lab, fence int64) error {
	if err := s.ask(l, http.MethodPost, "/lock/expect", fmt.Appendf(nil, `{"fence":%d}`, fence),
		nil); err != nil {
		return err
	}
	body, header := crowd.SMS(l.signer, uuid.NewString(), fmt.Sprintf("[마켓] 인증번호 %06d", fence%1e6), time.Now())
	return (&seller{room: s.room}).ask(l, http.MethodPost, "/sms", []byte(body), header())
}

// open opens the seller's socket and reads it until it is closed.
func (s *seller) open(ctx context.Context, l *lab) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	socket, err := crowd.Dialer{}.Dial(ctx, l.url, s.room, s.session)
	if err != nil {
		return err
	}
	frame, err := socket.Read(time.Now().Add(20 * time.Second))
	if err != nil {
		return err
	}
	s.socket, s.frame = socket, len(frame)
	go func() {
		for {
			frame, err := socket.Read(time.Time{})
			if err != nil {
				return
			}
			if bytes.Contains(frame, []byte(`"type":"ping"`)) {
				_ = socket.Pong()
			}
		}
	}()
	return nil
}

// newSellers returns sellers who have not joined.
func newSellers(room string, n int) []*seller {
	list := make([]*seller, n)
	for i := range list {
		list[i] = &seller{room: room, session: uuid.NewString()}
	}
	return list
}

// each runs a function for all sellers, several at a time.
func each(list []*seller, at int, do func(*seller) error) error {
	var wait sync.WaitGroup
	errs := make(chan error, at)
	for w := range at {
		wait.Go(func() {
			for i := w; i < len(list); i += at {
				if err := do(list[i]); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wait.Wait()
	close(errs)
	return <-errs
}
