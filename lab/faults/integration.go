package faults

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const webhookSecret = "whsec_ZmF1bHRzLXdlYmhvb2tzLWZhdWx0cy13ZWJob29rcy4="

// integration is the program that receives the webhooks. It fails now and then, before or after it has read
// one.
type integration struct {
	run      *Run
	verifier *webhooks.Webhook
	server   *httptest.Server

	mu   sync.Mutex
	dice *rand.Rand
}

func startIntegration(r *Run) (*integration, error) {
	verifier, err := webhooks.NewWebhook(webhookSecret)
	if err != nil {
		return nil, err
	}
	g := &integration{run: r, verifier: verifier, dice: r.random("integration")}
	g.server = httptest.NewServer(g)
	r.tb.Cleanup(g.server.Close)
	return g, nil
}

func (g *integration) settings() []string {
	return []string{"WAITROOM_WEBHOOK_URL=" + g.server.URL, "WAITROOM_WEBHOOK_SECRET=" + webhookSecret}
}

// event has the fields that are read of a webhook's payload.
type event struct {
	Type string `json:"type"`
	Data struct {
		Room      string `json:"room"`
		Ticket    int64  `json:"ticket"`
		Fence     int64  `json:"fence"`
		Outcome   string `json:"outcome"`
		MessageID string `json:"message_id"`
		Kind      string `json:"kind"`
	} `json:"data"`
}

func (g *integration) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	began := g.run.history.Now()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // its replica died
	}
	status := g.mood()
	defer w.WriteHeader(status)
	rec := Record{Kind: KindWebhook, Began: began, Webhook: req.Header.Get(webhooks.HeaderWebhookID),
		HTTP: status}
	var e event
	if err := g.verifier.Verify(body, req.Header); err != nil {
		rec.Error = fmt.Sprintf("signature: %v", err)
	} else if err := json.Unmarshal(body, &e); err != nil {
		rec.Error = err.Error()
	}
	rec.Type, rec.Room, rec.Ticket, rec.Fence, rec.Outcome, rec.Message = e.Type, e.Data.Room, e.Data.Ticket,
		e.Data.Fence, e.Data.Outcome, e.Data.MessageID
	if e.Type == "incident" {
		rec.Detail = e.Data.Kind
	}
	g.run.history.Add(rec)
}

// mood returns its answer: one time in twenty an error.
func (g *integration) mood() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dice.IntN(20) == 0 {
		return http.StatusServiceUnavailable
	}
	return http.StatusNoContent
}
