package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/outbox/webhook"
	"github.com/waitroom/waitroom/room"
)

// webhookEvent is an event for the integration, without session, text or code. Times are unix ms.
type webhookEvent struct {
	Ticket    int64
	Fence     int64
	Seller    string
	Outcome   room.Outcome
	GrantedAt int64
	ExpiresAt int64
	EndedAt   int64
	MessageID string
	SentAt    int64
	Kind      string // of an incident
	Subject   string // of an incident; it is not sent
	Detail    string
	JoinedAt  int64  // of a near place, as the next two
	Position  int    // from 1 = next
	Wait      *int64 // seconds; nil = not known
}

type webhookPayload struct {
	Type      string      `json:"type"`
	Timestamp string      `json:"timestamp"`
	Data      webhookData `json:"data"`
}

type webhookData struct {
	Room      string       `json:"room"`
	Ticket    int64        `json:"ticket,omitempty"`
	Fence     int64        `json:"fence,omitempty"`
	SellerID  string       `json:"seller_id,omitempty"`
	GrantedAt string       `json:"granted_at,omitempty"`
	ExpiresAt string       `json:"expires_at,omitempty"`
	EndedAt   string       `json:"ended_at,omitempty"`
	Outcome   room.Outcome `json:"outcome,omitempty"`
	MessageID string       `json:"message_id,omitempty"`
	SentAt    string       `json:"sent_at,omitempty"`
	Kind      string       `json:"kind,omitempty"`
	Detail    string       `json:"detail,omitempty"`
	JoinedAt  string       `json:"joined_at,omitempty"`
	Position  int          `json:"queue_position,omitempty"`
	Wait      *int64       `json:"estimated_wait,omitempty"`
}

// sendWebhook adds a task that sends an event. The outbox sends the events of one lease in the order of their
// tasks.
func (w *work) sendWebhook(kind string, at int64, e webhookEvent) error {
	if !w.webhooks {
		return nil
	}
	body, err := json.Marshal(webhookPayload{Type: kind, Timestamp: stamp(at), Data: webhookData{
		Room: string(w.id), Ticket: e.Ticket, Fence: e.Fence, SellerID: plain(e.Seller),
		GrantedAt: stamp(e.GrantedAt),
		ExpiresAt: stamp(e.ExpiresAt), EndedAt: stamp(e.EndedAt), Outcome: e.Outcome, MessageID: plain(e.MessageID),
		SentAt: stamp(e.SentAt), Kind: e.Kind, Detail: e.Detail,
		JoinedAt: stamp(e.JoinedAt), Position: e.Position, Wait: e.Wait}})
	if err != nil {
		return fmt.Errorf("encode %s: %w", kind, err)
	}
	w.tasks = append(w.tasks, outbox.Task{UID: "evt_" + uuid.NewString(), Kind: webhook.Kind,
		Key: leaseKey(w.id, e), Phase: webhook.Deliver,
		Payload: string(body), CreatedAt: at, Traceparent: w.trace})
	return nil
}

// enqueue puts the transaction's tasks into the outbox.
func enqueue(s sqldb.Session, works []*work) error {
	var tasks []outbox.Task
	for _, w := range works {
		tasks = append(tasks, w.tasks...)
	}
	err := outbox.Enqueue(s.Ctx, s, s.Dialect, tasks...)
	if errors.Is(err, outbox.ErrInvalidTask) {
		return sqldb.DataError(err.Error()) // the entry becomes a dead letter: a retry would fail too
	}
	return err
}

func (w *work) sendGranted(r room.Record) error {
	return w.sendWebhook("lock.granted", r.At, webhookEvent{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller,
		GrantedAt: r.GrantedAt, ExpiresAt: r.ExpiresAt})
}

func (w *work) sendEnded(r room.Record) error {
	return w.sendWebhook("lock.ended", r.At, webhookEvent{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller,
		Outcome: r.Outcome, GrantedAt: r.GrantedAt, ExpiresAt: r.ExpiresAt, EndedAt: r.EndedAt})
}

// leaseKey returns the key that orders a lease's events. An event without a lease has its own key.
func leaseKey(id room.ID, e webhookEvent) string {
	if e.Fence != 0 {
		return string(id) + "/" + strconv.FormatInt(e.Fence, 10)
	}
	about := cmp.Or(e.Subject, plain(e.MessageID))
	return string(id) + "/" + e.Kind + "/" + about + "/" + strconv.FormatInt(e.Ticket, 10)
}

// stamp returns unix ms in the contract's format; 0 gives "".
func stamp(ms int64) string {
	if ms == 0 {
		return ""
	}
	return room.Time(ms).Format("2006-01-02T15:04:05.000Z07:00")
}

// WebhookDelivered writes into the timeline that the integration has an event. It is webhook.Config.Recorded.
func (l *Ledger) WebhookDelivered(ctx context.Context, t outbox.Task) error {
	var sent webhookPayload
	if err := json.Unmarshal([]byte(t.Payload), &sent); err != nil {
		return fmt.Errorf("read task %d: %w", t.ID, err)
	}
	return l.inRoom(ctx, room.ID(sent.Data.Room), func(w *work) error {
		_, err := w.Exec(`INSERT INTO timeline (room, epoch, entry, n, at, kind, ticket, fence, seller, detail)
			VALUES ($1, COALESCE((SELECT epoch FROM leases WHERE room = $1
			AND fence = $4), 0), $2, 0, $5, 'told', $3, $4, $6, $7)
			ON CONFLICT DO NOTHING`, sent.Data.Room, t.UID, sent.Data.Ticket, sent.Data.Fence, t.UpdatedAt,
			sent.Data.SellerID,
			schema.DetailOf(room.Record{Action: sent.Type}))
		return err
	})
}
