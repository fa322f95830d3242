package crowd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	carrierSender  = "15881234"
	carrierRepeats = 5
)

// carrier signs and posts the codes that holders ask for.
type carrier struct {
	c      *crowd
	signer *webhooks.Webhook // nil: there is none
	run    string            // makes message ids new in each run

	mu   sync.Mutex
	sent int
	next time.Time // when the rate allows another
	way  sync.WaitGroup
}

func newCarrier(c *crowd, run string) (*carrier, error) {
	k := &carrier{c: c, run: run}
	if c.cfg.Carrier.Secret == "" {
		return k, nil
	}
	var err error
	if k.signer, err = webhooks.NewWebhook(c.cfg.Carrier.Secret); err != nil {
		return nil, fmt.Errorf("the carrier's secret: %w", err)
	}
	return k, nil
}

// works reports whether there is a carrier, so that sellers may ask for codes.
func (k *carrier) works() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.signer != nil && (k.c.cfg.Carrier.Number == 0 || k.sent < k.c.cfg.Carrier.Number)
}

// send delivers a code to a holder after a delay, within the carrier's rate. After the carrier's end it sends
// nothing.
func (k *carrier) send(room *hall, fence int64, code string, delay time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.signer == nil || (k.c.cfg.Carrier.Number != 0 && k.sent >= k.c.cfg.Carrier.Number) {
		return
	}
	k.sent++
	n := k.sent
	if rate := k.c.cfg.Carrier.Rate; rate > 0 {
		now := time.Now()
		if k.next.Before(now) {
			k.next = now
		}
		delay = max(delay, k.next.Sub(now))
		k.next = k.next.Add(time.Duration(float64(time.Second) / rate))
	}
	k.way.Add(1)
	time.AfterFunc(delay, func() {
		defer k.way.Done()
		k.post(room, fence, fmt.Sprintf("%s-%d", k.run, n), code)
	})
}

// post posts one message, and retries until there is an answer.
func (k *carrier) post(room *hall, fence int64, id, code string) {
	body, header := SMS(k.signer, id, "[마켓] 인증번호 "+code, k.c.redisNow())
	for try := range carrierRepeats {
		room.released(fence, time.Now())
		got, err := k.c.api.do(k.c.cfg.URLs[(int(fence)+try)%len(k.c.cfg.URLs)],
			call{method: http.MethodPost, path: "/api/" + room.id + "/sms", body: body, header: header})
		if err == nil && got.status < http.StatusInternalServerError {
			k.answered(room, fence, id, got)
			return
		}
		time.Sleep(time.Duration(1<<try) * 50 * time.Millisecond)
	}
	k.c.stats.sms("unanswered")
}

func (k *carrier) answered(room *hall, fence int64, id string, got answer) {
	if got.status != http.StatusOK {
		k.c.stats.sms("refused: " + got.Code)
		return
	}
	k.c.stats.sms(got.Result)
	if (got.Result == "matched" || got.Result == "late") && got.Fence != fence {
		room.model.Violate(WrongCode, "message %s was asked for with fence %d and is %s for %d", id, fence,
			got.Result, got.Fence)
	}
}

// SMS is a message as a carrier posts it: its body, and the header of each attempt, signed as Standard
// Webhooks. sentAt is when the carrier took it, by Redis's clock.
func SMS(signer *webhooks.Webhook, id, text string, sentAt time.Time) (body string,
	header func() http.Header) {
	// strings always marshal
	fields, _ := json.Marshal(map[string]any{"message_id": id, "from": carrierSender, "text": text,
		"sent_at": sentAt.UTC().Format("2006-01-02T15:04:05.000Z07:00")})
	return string(fields), func() http.Header {
		now := time.Now()
		signature, _ := signer.Sign(id, now, fields) // an HMAC does not fail
		return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)},
			"Webhook-Signature": {signature}}
	}
}
