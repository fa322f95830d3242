package room

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

var recentQuestion = newVerb[struct{}]("recent")

// RecentMessage is a message of the last ten minutes as support sees it: what could be a code is masked.
type RecentMessage struct {
	MessageID  string // "" where it was sealed with a secret that is not known here
	Text       string // masked by Mask; "" likewise
	Result     Result
	Reason     Reason
	Code       bool  // there is a code in it
	ReceivedAt int64 // unix ms
	From, To   int64 // the half-open time it was sent in, by the room's clock, unix ms
	Ticket     int64 // 0 = it belongs to none
	Fence      int64 // of the lease it belongs to, or is offered to; 0 = none
	Offered    bool  // its holder is asked whether it is its own
	Could      []Candidate
}

// Candidate is a lease that could have caused a message: it was live when the message was sent, or had asked in the ten minutes
// before. Assign takes each of an unmatched message's, and no other.
type Candidate struct {
	Fence     int64
	Ticket    int64
	Seller    string
	GrantedAt int64 // unix ms
	EndedAt   int64 // unix ms; of the live lease when it ends at the latest
	AskedAt   int64 // unix ms: its last ask at or before the message was sent; 0 = it made none
	Live      bool
}

// Letters lists the messages of the last ten minutes that are unmatched or came late, the earliest first.
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

// letter reads a message and the leases that could have caused it.
func (e *Engine) recentMessage(id ID, parts []string) (RecentMessage, error) {
	if len(parts) == 0 {
		return RecentMessage{}, fmt.Errorf("%w: a recent message is empty", ErrStore)
	}
	r := reader{fields: strings.Split(parts[0], "|")}
	digest := r.text()
	l := RecentMessage{Fence: r.int(), Ticket: r.int(), Result: Result(r.text()), Reason: Reason(r.text()), Code: r.text() == "1",
		ReceivedAt: r.int(), From: r.int(), To: r.int(), Offered: r.text() == "1"}
	sealed := r.text()
	for _, part := range parts[1:] {
		c := reader{fields: strings.Split(part, "|")}
		l.Could = append(l.Could, Candidate{Fence: c.int(), Ticket: c.int(), Seller: c.seller(), GrantedAt: c.int(), EndedAt: c.int(),
			AskedAt: c.int(), Live: c.text() == "1"})
		r.short = r.short || c.short
	}
	if r.short {
		return RecentMessage{}, fmt.Errorf("%w: a recent message is cut short", ErrStore)
	}
	text, err := e.unseal(id, sealed, aboutMessage(id, digest))
	if err != nil {
		return l, nil // the text is a secret to this process too
	}
	var m Message
	if err := json.Unmarshal(text, &m); err != nil {
		return RecentMessage{}, fmt.Errorf("%w: a message is not readable", ErrStore)
	}
	l.MessageID, l.Text = m.MessageID, Mask(m.Text)
	return l, nil
}
