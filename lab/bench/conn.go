package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/waitroom/waitroom/lab/crowd"
)

const (
	requestWithin = 30 * time.Second
	longestAnswer = 64 << 10
)

// conn is a kept-alive HTTP/1.1 connection that uses little processor time, since client and server share the
// machine. Only one goroutine may use it.
type conn struct {
	net.Conn
	r    *bufio.Reader
	host string
	out  []byte
	body []byte
}

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, requestWithin)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, r: bufio.NewReader(c), host: addr}, nil
}

// do sends a request and reads the whole answer, which is valid until the next do.
func (c *conn) do(method, path, session, body string) (status int, answer []byte, err error) {
	c.out = append(c.out[:0], method...)
	c.out = append(append(append(c.out, ' '), path...), " HTTP/1.1\r\nHost: "...)
	c.out = append(append(c.out, c.host...), "\r\n"...)
	if session != "" {
		c.out = append(append(append(c.out, "X-Session-ID: "...), session...), "\r\n"...)
	}
	if body != "" {
		c.out = append(c.out, "Content-Type: application/json\r\nContent-Length: "...)
		c.out = append(strconv.AppendInt(c.out, int64(len(body)), 10), "\r\n"...)
	}
	c.out = append(append(c.out, "\r\n"...), body...)
	_ = c.SetDeadline(time.Now().Add(requestWithin))
	if _, err := c.Write(c.out); err != nil {
		return 0, nil, err
	}
	return c.read()
}

func (c *conn) read() (status int, body []byte, err error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return 0, nil, err
	}
	if len(line) < 12 {
		return 0, nil, fmt.Errorf("not an answer: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, err
	}
	length := 0
	for {
		line, err = c.r.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		name, value, ok := strings.Cut(string(line), ":")
		if !ok {
			break
		}
		switch strings.ToLower(name) {
		case "content-length":
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return 0, nil, err
			}
		case "transfer-encoding":
			return 0, nil, errors.New("an answer in chunks")
		}
	}
	if length > longestAnswer {
		return 0, nil, fmt.Errorf("an answer of %d bytes", length)
	}
	c.body = append(c.body[:0], make([]byte, length)...)
	_, err = io.ReadFull(c.r, c.body)
	return status, c.body, err
}

// place has the fields of an answer about the caller's own place.
type place struct {
	Status   string `json:"status"`
	Ticket   int64  `json:"ticket"`
	Fence    int64  `json:"fence"`
	Epoch    int64  `json:"epoch"`
	Version  int64  `json:"version"`
	Position int    `json:"queue_position"`
}

// ask is do for a request that has to succeed; any other status is a refusal.
func (c *conn) ask(method, path, session, body string) (p place, err error) {
	status, text, err := c.do(method, path, session, body)
	if err != nil {
		return p, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if status >= 300 {
		return p, fmt.Errorf("%s %s: %w", method, path, &refusal{status, string(text)})
	}
	return p, json.Unmarshal(text, &p)
}

// refusal is the error of an answer without a status of success.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return fmt.Sprint(r.status, " ", r.text) }

// busy reports whether an error asks the client to retry later.
func busy(err error) bool {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.status == http.StatusServiceUnavailable
	}
	s, ok := errors.AsType[*crowd.StatusError](err)
	return ok && s.Status == http.StatusServiceUnavailable
}

// join is the button 준비 완료 ("ready"); done is 인증 완료 ("verified") for the holder, and gives up the place of a
// waiter.
func (c *conn) join(room string, p person) (place, error) {
	return c.ask("POST", "/api/"+room+"/lock", p.session, p.body)
}

func (c *conn) done(room string, p person) (place, error) {
	return c.ask("DELETE", "/api/"+room+"/lock?reason=completed", p.session, "")
}
