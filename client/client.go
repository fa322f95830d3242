package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Config says how a Client reaches the server. Its zero value is valid.
type Config struct {
	// HTTP makes the calls and dials the sockets; nil = one with a time limit of a minute a call.
	HTTP *http.Client
	// Header goes with every call, such as what a proxy in between requires. Without an Accept-Language there,
	// the server's refusals are in English.
	Header http.Header
	// Token returns the seller's token for a server with SELLER_AUTH=jwt; nil = none. Join calls it for each
	// try and sends the token; its error ends Join. No other call sends one: after Join the session alone
	// proves the seller, so a token may expire while its seller waits.
	Token func(context.Context) (string, error)
}

// Client takes turns on one server. It may be used by many goroutines.
type Client struct {
	base   *url.URL
	http   *http.Client
	header http.Header
	token  func(context.Context) (string, error)
}

const (
	callTimeout = time.Minute      // longer than the longest wait for a message
	firstPause  = time.Second / 4  // before a call is repeated; doubled each time
	mostPause   = 20 * time.Second // also before a socket is opened again
	mostAnswer  = 1 << 20          // bytes
	mostAfter   = 60               // seconds of a Retry-After
	mostBusy    = 2                // seconds of it for number_busy: the earlier code may come sooner
)

// New returns a client of the server at a URL, such as "https://waitroom.example".
func New(base string, cfg Config) (*Client, error) {
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil {
		return nil, fmt.Errorf("waitroom's URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("waitroom's URL is %q: want one such as https://waitroom.example", base)
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Timeout: callTimeout}
	}
	stays := *cfg.HTTP
	stays.CheckRedirect = stay
	return &Client{base: u, http: &stays, header: cfg.Header, token: cfg.Token}, nil
}

// stay follows no redirect: the session is a secret of the server that was named.
func stay(*http.Request, []*http.Request) error {
	return http.ErrUseLastResponse
}

// request is one call, which may be sent several times.
type request struct {
	method, path string
	query        url.Values
	body         any    // nil = none
	key          string // Idempotency-Key; "" = none
	session      string
	proves       bool   // it sends the seller's token
	token        string // of one try; "" = none
}

// call sends a request until the server answers, and decodes the answer. Its error is a *Problem for a
// refusal that a retry would not change, or that of Config.Token; otherwise it is ctx's error with the last
// failure.
func (c *Client) call(ctx context.Context, q request, answer any) error {
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		var err error
		if q.token, err = c.tokenOf(ctx, q); err != nil {
			return err
		}
		err = c.once(ctx, q, answer)
		p, refused := errors.AsType[*Problem](err)
		if err == nil || refused && p.RetryAfter == 0 {
			return err
		}
		after := time.Duration(mrand.Int64N(int64(pause)))
		if refused {
			after = p.RetryAfter
		}
		if err := sleep(ctx, after, err); err != nil {
			return err
		}
	}
}

// tokenOf returns the seller's token for a request that proves the seller; "" for others.
func (c *Client) tokenOf(ctx context.Context, q request) (string, error) {
	if !q.proves || c.token == nil {
		return "", nil
	}
	token, err := c.token(ctx)
	if err != nil {
		return "", fmt.Errorf("get the seller's token: %w", err)
	}
	return strings.TrimSpace(token), nil // a file's ends with a new line
}

// sleep waits. If ctx ends first, it returns ctx's error with the failure that it waited after.
func sleep(ctx context.Context, d time.Duration, failure error) error {
	select {
	case <-ctx.Done():
		return errors.Join(ctx.Err(), failure)
	case <-time.After(d):
		return nil
	}
}

// once sends a request once. Where the answer has no Retry-After, a Problem has RetryAfter 0; after a 5xx or
// a 429 it has a second.
func (c *Client) once(ctx context.Context, q request, answer any) error {
	var body io.Reader
	if q.body != nil {
		text, err := json.Marshal(q.body)
		if err != nil {
			return fmt.Errorf("encode a request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	u := *c.base
	u.Path += q.path
	u.RawQuery = q.query.Encode()
	r, err := http.NewRequestWithContext(ctx, q.method, u.String(), body)
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	r.Header = c.headers(q.session)
	if q.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.key != "" {
		r.Header.Set("Idempotency-Key", q.key)
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("call waitroom: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("read waitroom's answer: %w", err)
	}
	if resp.StatusCode < 300 {
		return decode(text, answer)
	}
	return problem(resp, text)
}

// decode reads an answer of the server, each of which has a status. Anything else comes from a proxy.
func decode(text []byte, answer any) error {
	var its struct{ Status string }
	if err := json.Unmarshal(text, &its); err != nil {
		return fmt.Errorf("read waitroom's answer: %w", err)
	}
	if its.Status == "" {
		return errors.New("read waitroom's answer: it has no status")
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("read waitroom's answer: %w", err)
	}
	return nil
}

func problem(resp *http.Response, text []byte) error {
	p := &Problem{}
	if json.Unmarshal(text, p) != nil || p.Code == "" {
		p = &Problem{Code: "unknown"} // of a proxy in between
	}
	p.Status = resp.StatusCode
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	switch {
	case err == nil && seconds >= 0:
		most := mostAfter
		if p.Code == "number_busy" {
			most = mostBusy
		}
		p.RetryAfter = time.Duration(min(max(seconds, 1), most)) * time.Second
	case p.Status >= 500 || p.Status == http.StatusTooManyRequests:
		p.RetryAfter = time.Second
	}
	return p
}

func (c *Client) headers(session string) http.Header {
	h := c.header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if h.Get("Accept-Language") == "" {
		h.Set("Accept-Language", "en")
	}
	h.Set("X-Session-ID", session)
	return h
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
