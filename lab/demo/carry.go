package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/waitroom/waitroom/lab/crowd"
)

const codeTakes = 4 * time.Second // from a person's ask to the message

// holder has the fields of the desk's frames about the holder and its asks.
type holder struct {
	Seller string `json:"seller_id"`
	Fence  int64
	Asked  int
	Open   int
}

// carry watches a room as support does, and sends a code for each ask of a person who joined by the page. The
// crowd of the demo has a carrier of its own. It ends with ctx.
func (d *demo) carry(ctx context.Context, room string) {
	for ctx.Err() == nil {
		_ = d.watch(ctx, room) // it comes back below
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// watch reads one socket of the desk.
func (d *demo) watch(ctx context.Context, room string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{}, Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.PostForm(d.url+"/support/sign-in",
		url.Values{"username": {supportName}, "password": {d.password}})
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	dialing := &websocket.DialOptions{HTTPClient: client, HTTPHeader: http.Header{"Origin": {d.url}}}
	ws, _, err := websocket.Dial(ctx, d.url+"/api/support/"+room+"/ws", dialing)
	if err != nil {
		return err
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(-1)
	var sent holder
	for {
		_, text, err := ws.Read(ctx)
		if err != nil {
			return err
		}
		var frame struct {
			Type   string
			Holder *holder
		}
		if err := json.Unmarshal(text, &frame); err != nil {
			return err
		}
		if frame.Type == "ping" {
			if err := ws.Write(ctx, websocket.MessageText, []byte(`{"type":"pong"}`)); err != nil {
				return err
			}
		}
		h := frame.Holder
		if h == nil || h.Open == 0 || strings.HasPrefix(h.Seller, "crowd-") ||
			(h.Fence == sent.Fence && h.Asked <= sent.Asked) {
			continue
		}
		sent = *h
		time.AfterFunc(codeTakes, func() { d.send(ctx, room) })
	}
}

// send posts a code as a carrier does.
func (d *demo) send(ctx context.Context, room string) {
	signer, err := webhooks.NewWebhook(d.secret)
	if err != nil || ctx.Err() != nil {
		return
	}
	text := fmt.Sprintf("[마켓] 인증번호 [%06d]를 입력해 주세요.", rand.IntN(1_000_000))
	body, header := crowd.SMS(signer, uuid.NewString(), text, time.Now())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+"/api/"+room+"/sms",
		strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header = header()
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
	}
}
