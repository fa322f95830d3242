package push

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"code.dny.dev/ssrf"

	"github.com/waitroom/waitroom/room"
)

// bodyBytes is the part of an answer that is read, so that the connection can be reused.
const bodyBytes = 4 << 10

// To names a browser to notify.
type To struct {
	Room    room.ID
	Ticket  int64
	Browser string // its name from Browsers
}

// Message is the service worker's input, see static/worker.js. It does not name the seller.
type Message struct {
	Title string   `json:"title"`
	Body  string   `json:"body"`        // {time} in it is Until, by the device's clock
	Plain string   `json:"-"`           // replaces Body where the browser shows the message without the service worker
	Until int64    `json:"until"`       // unix milliseconds, as Now
	Now   int64    `json:"server_time"` // when it was sent
	Room  string   `json:"room"`
	Lang  string   `json:"lang"`
	Tag   string   `json:"tag"`   // one notification per tag is visible
	Paths []string `json:"paths"` // of the room's page; the first is the one to open
}

// Tag returns the tag of a room's notifications, also used by its page: see static/js/notify.js.
func Tag(id room.ID) string { return "waitroom:" + string(id) }

// Send notifies one browser; write makes the message in the subscription's language. The push service drops
// it after ttl, and replaces an earlier one for the same place. Refusals: ErrGone, ErrRefused; ErrLater if a
// retry may succeed; otherwise the store's.
func (p *Pushes) Send(ctx context.Context, to To, ttl time.Duration, write func(lang string) Message) error {
	s, err := p.find(ctx, to.Room, to.Ticket, to.Browser)
	if err == nil {
		err = p.send(ctx, to, &s, ttl, write(s.Language))
	}
	switch {
	case errors.Is(err, ErrGone):
		p.counts.WithLabelValues("gone").Inc()
		return errors.Join(err, p.lose(ctx, to, s))
	case errors.Is(err, ErrRefused):
		p.counts.WithLabelValues("refused").Inc()
	case errors.Is(err, ErrLater):
		p.counts.WithLabelValues("later").Inc()
	case err == nil:
		p.counts.WithLabelValues("sent").Inc()
	}
	return err
}

// Late counts a message that was not sent because it was out of date.
func (p *Pushes) Late() { p.counts.WithLabelValues("late").Inc() }

func (p *Pushes) send(ctx context.Context, to To, s *Subscription, ttl time.Duration, m Message) error {
	k := p.known()
	if k == nil {
		var err error
		if k, err = p.agree(ctx); err != nil {
			return err
		}
	}
	req, err := p.request(ctx, k, to, s, ttl, m)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if !p.pauses.over(req.URL) {
		return fmt.Errorf("%w: it said when", ErrLater)
	}
	leave, ok := p.hosts.enter(hostOf(req.URL))
	if !ok {
		return fmt.Errorf("%w: its host has pushes in flight, or rests", ErrLater)
	}
	res, err := p.post(req)
	leave(err)
	if res == nil {
		return unsent(err)
	}
	p.pauses.record(req.URL, res)
	return verdict(res.StatusCode)
}

// post returns the answer, and an error also where its body did not arrive in time.
func (p *Pushes) post(req *http.Request) (*http.Response, error) {
	res, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, bodyBytes))
	return res, err
}

func (p *Pushes) request(ctx context.Context, k *key, to To, s *Subscription, ttl time.Duration,
	m Message) (*http.Request, error) {
	if err := p.checkEndpoint(s.Endpoint); err != nil {
		return nil, err
	}
	text, err := m.write(s.Site)
	if err != nil {
		return nil, fmt.Errorf("write message: %w", err)
	}
	body, err := seal(text, s)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, errEndpoint
	}
	signature, err := k.authorization(req.URL.Scheme+"://"+req.URL.Host, s.Site, p.cfg.Now())
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", signature)
	req.Header.Set("Content-Encoding", "aes128gcm")
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("TTL", strconv.FormatInt(int64(ttl.Seconds()), 10))
	req.Header.Set("Urgency", "high")
	req.Header.Set("Topic", p.topic(to))
	req.Header.Set("User-Agent", "waitroom")
	return req, nil
}

// topic returns the topic of a place's messages, of which the push service keeps the latest. It has 32
// characters (RFC 8030, 5.4).
func (p *Pushes) topic(to To) string {
	sum := sha256.Sum256([]byte(p.placeKey(to.Room, to.Ticket)))
	return encoding.EncodeToString(sum[:24])
}

// verdict maps a push service's status to an error.
func verdict(status int) error {
	switch {
	case status >= 200 && status <= 299:
		return nil
	case status == http.StatusNotFound || status == http.StatusGone:
		return ErrGone
	case status == http.StatusTooManyRequests || status >= 500:
		return fmt.Errorf("%w: it answered %d", ErrLater, status)
	}
	return fmt.Errorf("%w: it answered %d", ErrRefused, status)
}

// unsent maps a transport error. The error names no address.
func unsent(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedPort) ||
		errors.Is(err, ssrf.ErrProhibitedNetwork) || errors.Is(err, errNotLoopback):
		return fmt.Errorf("%w: %w", ErrRefused, errInternal)
	case errors.Is(err, errNoMaker):
		return fmt.Errorf("%w: %w", ErrRefused, errNoMaker)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: no answer in time", ErrLater)
	}
	return fmt.Errorf("%w: it can not be reached", ErrLater)
}

// declarative marks a message that a browser can show by itself: Declarative Web Push, in Safari from iOS
// 18.4.
const declarative = 8030

// declared is a Message with the fields of Declarative Web Push. Other browsers pass the whole to the service
// worker, which reads the Message alone.
type declared struct {
	Message
	WebPush      int           `json:"web_push,omitempty"`
	Notification *notification `json:"notification,omitempty"`
}

type notification struct {
	Title    string `json:"title"`
	Body     string `json:"body"`
	Navigate string `json:"navigate"` // an absolute URL
	Lang     string `json:"lang"`
	Tag      string `json:"tag"`
}

// write returns a message's JSON. Without a site, the address to open is unknown, and only the service worker
// can show the message.
func (m Message) write(site string) ([]byte, error) {
	d := declared{Message: m}
	if site != "" && len(m.Paths) > 0 {
		d.WebPush, d.Notification = declarative, &notification{m.Title, m.Plain, site + m.Paths[0], m.Lang, m.Tag}
	}
	return json.Marshal(d)
}
