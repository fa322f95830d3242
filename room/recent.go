package room

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/waitroom/waitroom/room/smstext"
	"github.com/waitroom/waitroom/room/wire"
)

var recentQuestion = newVerb[struct{}]("recent")

// RecentMessage is a message of the last ten minutes for support's pages, with possible codes masked.
type RecentMessage struct {
	MessageID  string // "" if this process cannot open the message
	Text       string // masked by smstext.Mask; "" if this process cannot open the message
	Result     Result
	Reason     Reason
	Code       bool  // the message has a code
	ReceivedAt int64 // unix ms
	From, To   int64 // the half-open time in which the message was sent, unix ms of the room's clock
	Ticket     int64 // of the message's lease; 0 = none
	Fence      int64 // of the message's lease, or of the lease it is offered to; 0 = none
	Offered    bool  // the message is offered to the holder
	Could      []Candidate
}

// Candidate is a lease that could have caused a message.
//
// It was live when the message was sent, or had asked in the ten minutes before. Assign accepts the
// candidates of an unmatched message and no other lease, and none where the reason is WrongNumber.
type Candidate = wire.Candidate

// RecentMessages returns the unmatched and late messages of the last ten minutes, the earliest first.
// Error: ErrStore.
func (e *Engine) RecentMessages(ctx context.Context, id ID) ([]RecentMessage, error) {
	a, err := e.ask(ctx, recentQuestion.with(struct{}{}), id)
	if err != nil {
		return nil, err
	}
	messages := make([]RecentMessage, len(a.Messages))
	for i := range a.Messages {
		if messages[i], err = e.recentMessage(id, &a.Messages[i]); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

// recentMessage returns a message with its text, if this process can open it.
func (e *Engine) recentMessage(id ID, w *wire.RecentMessage) (RecentMessage, error) {
	l := RecentMessage{Fence: w.Fence, Ticket: w.Ticket, Result: w.Result, Reason: w.Reason, Code: w.Code,
		ReceivedAt: w.Received, From: w.From, To: w.To, Offered: w.Offered, Could: w.Could}
	text, err := e.unseal(id, w.Sealed, aboutMessage(id, w.Digest))
	if err != nil {
		return l, nil // the text is sealed with a secret that this process does not know
	}
	var m Message
	if err := json.Unmarshal(text, &m); err != nil {
		return RecentMessage{}, fmt.Errorf("%w: a message is not readable", ErrStore)
	}
	l.MessageID, l.Text = m.MessageID, smstext.Mask(m.Text)
	return l, nil
}
