package room

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

var recentQuestion = newVerb[struct{}]("recent")

// RecentMessage is a message of the last ten minutes for support's pages, with possible codes masked.
type RecentMessage struct {
	MessageID  string // "" if this process cannot open the message
	Text       string // masked by Mask; "" if this process cannot open the message
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
type Candidate struct {
	Fence     int64
	Ticket    int64
	Seller    string
	GrantedAt int64 // unix ms
	EndedAt   int64 // unix ms; of the live lease, its latest end
	AskedAt   int64 // unix ms: last ask at or before the message was sent; 0 = none
	Live      bool
}

// RecentMessages returns the unmatched and late messages of the last ten minutes, the earliest first.
// Error: ErrStore.
func (e *Engine) RecentMessages(ctx context.Context, id ID) ([]RecentMessage, error) {
	list, err := e.list(ctx, recentQuestion.with(struct{}{}), id)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: reply is an empty list", ErrStore)
	}
	if _, err := e.read(id, list[0]); err != nil {
		return nil, err
	}
	messages := make([]RecentMessage, len(list)-1)
	for i, line := range list[1:] {
		if messages[i], err = e.recentMessage(id, strings.Fields(line)); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

// recentMessage parses a message and its candidates.
func (e *Engine) recentMessage(id ID, parts []string) (RecentMessage, error) {
	if len(parts) == 0 {
		return RecentMessage{}, fmt.Errorf("%w: a recent message is empty", ErrStore)
	}
	r := reader{fields: strings.Split(parts[0], "|")}
	digest := r.text()
	l := RecentMessage{Fence: r.int(), Ticket: r.int(), Result: Result(r.text()), Reason: Reason(r.text()),
		Code: r.text() == "1", ReceivedAt: r.int(), From: r.int(), To: r.int(), Offered: r.text() == "1"}
	sealed := r.text()
	for _, part := range parts[1:] {
		c := reader{fields: strings.Split(part, "|")}
		l.Could = append(l.Could, Candidate{Fence: c.int(), Ticket: c.int(), Seller: c.seller(),
			GrantedAt: c.int(), EndedAt: c.int(), AskedAt: c.int(), Live: c.text() == "1"})
		r.short = r.short || c.short
	}
	if r.short {
		return RecentMessage{}, fmt.Errorf("%w: a recent message is cut short", ErrStore)
	}
	text, err := e.unseal(id, sealed, aboutMessage(id, digest))
	if err != nil {
		return l, nil // the text is sealed with a secret that this process does not know
	}
	var m Message
	if err := json.Unmarshal(text, &m); err != nil {
		return RecentMessage{}, fmt.Errorf("%w: a message is not readable", ErrStore)
	}
	l.MessageID, l.Text = m.MessageID, Mask(m.Text)
	return l, nil
}
