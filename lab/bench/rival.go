package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/waitroom/waitroom/lab/crowd"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	plainName      = "the plain server"
	centrifugoName = "Centrifugo"
	apiKey         = "bench"
	channel        = "bench"
)

// frame has the length of a waiter's state. Its version tells one broadcast from the next.
const frame = `{"type":"state","room":"bench","epoch":1781234567890,"version":%d,"server_time":1781234567890,"status":"waiting","outcome":null,` +
	`"ticket":4711,"queue_position":4710,"queue_length":9000,"estimated_wait":565200,"maximum_wait":565200,"lease_expires_at":1781234567890,` +
	`"fence":null,"paused":false,"claim_by":null,"codes":null}`

// rival is a server that sends the same frame to all sockets.
type rival struct {
	server
	sent int64
	push func(ctx context.Context, frame string) error
}

// broadcast sends one frame and waits until the last socket has it.
func (r *rival) broadcast(ctx context.Context) error {
	r.sent++
	began := time.Now()
	if err := r.push(ctx, fmt.Sprintf(frame, r.sent)); err != nil {
		return err
	}
	last, err := r.audience.until(ctx, r.sent)
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.delays = append(r.delays, ms(last.Sub(began)))
	stack.Pause(ctx, roundPause/2)
	return ctx.Err()
}

// startRival starts Centrifugo, or the plain server where there is none.
func (b *bench) startRival(ctx context.Context, home *stack.Stack) (*rival, error) {
	if b.centrifugo != "" {
		return b.startCentrifugo(ctx, home)
	}
	return b.startPlain(ctx, home)
}

// alone measures the plain server separately if Centrifugo is the rival: a process cannot open enough files
// for three crowds at a time.
func (b *bench) alone(ctx context.Context, home *stack.Stack) ([]*server, error) {
	if b.centrifugo == "" {
		return nil, nil
	}
	r, err := b.startPlain(ctx, home)
	if err != nil {
		return nil, err
	}
	defer r.audience.close()
	if err := b.fill(ctx, &r.server); err != nil {
		return nil, err
	}
	for range b.n(rounds) / 2 {
		if err := r.broadcast(ctx); err != nil {
			return nil, err
		}
	}
	return []*server{&r.server}, nil
}

// startPlain starts lab/peers's plain WebSocket server.
func (b *bench) startPlain(ctx context.Context, home *stack.Stack) (*rival, error) {
	addr, child, err := b.serve(ctx, home, plainName, "sockets")
	if err != nil {
		return nil, err
	}
	url := "http://" + addr
	r := &rival{server: server{name: plainName, child: child}}
	r.push = func(ctx context.Context, frame string) error { return post(ctx, url+"/push", frame) }
	r.audience = newAudience(ctx, func(ctx context.Context, _ int) (*crowd.Socket, error) {
		return crowd.Dialer{}.Open(ctx, url, "/ws", "")
	})
	return r, r.look(0)
}

// startCentrifugo starts the Centrifugo that CENTRIFUGO_BIN names, without its requests to outside networks.
// Its settings have the names of versions 5 and 6.
func (b *bench) startCentrifugo(ctx context.Context, home *stack.Stack) (*rival, error) {
	addr, err := stack.Address()
	if err != nil {
		return nil, err
	}
	port := strings.TrimPrefix(addr, "127.0.0.1:")
	cmd := exec.Command(b.centrifugo)
	cmd.Env = append(os.Environ(),
		"CENTRIFUGO_ADDRESS=127.0.0.1", "CENTRIFUGO_PORT="+port, "CENTRIFUGO_API_KEY="+apiKey,
		"CENTRIFUGO_ALLOW_ANONYMOUS_CONNECT_WITHOUT_TOKEN=true",
		"CENTRIFUGO_ALLOW_SUBSCRIBE_FOR_ANONYMOUS=true", "CENTRIFUGO_ALLOW_SUBSCRIBE_FOR_CLIENT=true",
		"CENTRIFUGO_HEALTH=true", "CENTRIFUGO_USAGE_STATS_DISABLE=true",
		"CENTRIFUGO_HTTP_SERVER_ADDRESS=127.0.0.1", "CENTRIFUGO_HTTP_SERVER_PORT="+port,
		"CENTRIFUGO_HTTP_API_KEY="+apiKey,
		"CENTRIFUGO_CLIENT_ALLOW_ANONYMOUS_CONNECT_WITHOUT_TOKEN=true",
		"CENTRIFUGO_CHANNEL_WITHOUT_NAMESPACE_ALLOW_SUBSCRIBE_FOR_ANONYMOUS=true",
		"CENTRIFUGO_CHANNEL_WITHOUT_NAMESPACE_ALLOW_SUBSCRIBE_FOR_CLIENT=true", "CENTRIFUGO_HEALTH_ENABLED=true",
		"CENTRIFUGO_USAGE_STATS_DISABLED=true")
	child, err := home.Launch(centrifugoName, cmd)
	if err != nil {
		return nil, err
	}
	url := "http://" + addr
	if err := child.Until(ctx, func() error { return get(url + "/health") }); err != nil {
		return nil, err
	}
	r := &rival{server: server{name: centrifugoName, child: child}}
	r.push = func(ctx context.Context, frame string) error {
		return post(ctx, url+"/api/publish", `{"channel":"`+channel+`","data":`+frame+`}`)
	}
	r.audience = newAudience(ctx, func(ctx context.Context, _ int) (*crowd.Socket,
		error) {
		return subscribe(ctx, url)
	})
	return r, r.look(0)
}

// subscribe connects a socket by Centrifugo's protocol.
func subscribe(ctx context.Context, url string) (*crowd.Socket, error) {
	socket, err := crowd.Dialer{}.Open(ctx, url, "/connection/websocket", "")
	if err != nil {
		return nil, err
	}
	for id, command := range []string{`{"id":1,"connect":{}}`,
		`{"id":2,"subscribe":{"channel":"` + channel + `"}}`} {
		if err := socket.Send(command); err != nil {
			return nil, err
		}
		text, err := socket.Read(time.Now().Add(dialWithin))
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte(`"error"`)) || !bytes.Contains(text, fmt.Appendf(nil, `"id":%d`, id+1)) {
			_ = socket.Close()
			return nil, fmt.Errorf("answer of %s to %s: %s", centrifugoName, command, text)
		}
	}
	return socket, nil
}

func post(ctx context.Context, url, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-API-Key", apiKey)
	return answered(http.DefaultClient.Do(req))
}

func get(url string) error { return answered(http.Get(url)) }

func answered(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, longestAnswer))
	if resp.StatusCode != http.StatusOK || bytes.Contains(text, []byte(`"error":{`)) {
		return fmt.Errorf("%s: %s %s", resp.Request.URL.Path, resp.Status, text)
	}
	return nil
}
