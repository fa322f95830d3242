package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const smsSecret = "whsec_ZmF1bHRzLWZhdWx0cy1mYXVsdHMtZmF1bHRzLTMyYg=="

// carrier delivers the codes that holders ask for. It signs them, retries until there is an answer, and
// delivers some twice.
type carrier struct {
	run    *Run
	signer *webhooks.Webhook
	count  atomic.Int64
	way    sync.WaitGroup
}

func newCarrier(r *Run) (*carrier, error) {
	signer, err := webhooks.NewWebhook(smsSecret)
	return &carrier{run: r, signer: signer}, err
}

// send delivers a code to a holder after a while. The code has letters, so that no other number is taken for
// one.
func (k *carrier) send(ctx context.Context, room, session string, fence int64, dice *rand.Rand) {
	n := k.count.Add(1)
	id := fmt.Sprintf("m-%d-%d", k.run.seed, n)
	code := fmt.Sprintf("QX%06d", dice.IntN(1_000_000))
	rng := rand.New(rand.NewPCG(k.run.seed, dice.Uint64()))
	k.run.history.Add(Record{Kind: KindMessage, Room: room, Session: session, Fence: fence, Message: id,
		Code: code})
	k.way.Go(func() {
		if pause(ctx, time.Duration(50+rng.IntN(350))*time.Millisecond) != nil {
			return
		}
		c := k.compose(room, id, code, fence)
		for range 1 + rng.IntN(10)/9 {
			c.header = k.sign(id, c.body)
			if _, err := k.insist(ctx, rng, c); err != nil {
				return
			}
		}
	})
}

func (k *carrier) compose(room, id, code string, fence int64) call {
	// strings always marshal
	body, _ := json.Marshal(map[string]any{"message_id": id, "from": "15881234", "text": "[마켓] 인증번호 " + code,
		"sent_at": k.run.now().UTC().Format("2006-01-02T15:04:05.000Z07:00")})
	return call{op: "sms", method: http.MethodPost, path: "/api/" + room + "/sms", body: string(body),
		room: room, fence: fence, message: id}
}

func (k *carrier) sign(id, body string) http.Header {
	now := time.Now()
	signature, _ := k.signer.Sign(id, now, []byte(body)) // an HMAC does not fail
	return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)},
		"Webhook-Signature": {signature}}
}

// insist is Run.insist with a new signature for each try.
func (k *carrier) insist(ctx context.Context, rng *rand.Rand, c call) (answer, error) {
	for n := rng.IntN(len(k.run.doors)); ; n++ {
		got, err := k.run.doors[n%len(k.run.doors)].ask(ctx, c)
		if err == nil && got.http < http.StatusInternalServerError {
			return got, nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return answer{}, err
		}
		c.header = k.sign(c.message, c.body)
	}
}
