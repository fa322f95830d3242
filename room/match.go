package room

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

var (
	matchScript  = script("match")
	settleScript = script("settle")
)

// Result says where an SMS belongs.
type Result string

// The results of the contract.
const (
	Matched   Result = "matched"   // to the current lease
	Late      Result = "late"      // to an earlier one
	Unmatched Result = "unmatched" // to none, or it can not be said to which
)

// Reason says why a message is unmatched.
type Reason string

// The reasons of the contract.
const (
	NoLease   Reason = "no_lease"
	Ambiguous Reason = "ambiguous"
)

// MatchRequest is an SMS to be matched.
type MatchRequest struct {
	MessageID string        // the carrier's; a repeat is told what the first was told
	From, To  int64         // the half-open time it was sent in, unix ms; both 0 = when Redis sees it
	Guard     time.Duration // widens that time on both sides: how far the carrier's clock may be off
	Keep      bool          // a match does not end the lease
	Shown     Message       // what the holder sees once the ledger agreed
	Note      MessageNote   // what the journal keeps; holds no secret
}

// MessageNote is what the ledger keeps of an SMS: its digits are masked.
type MessageNote struct {
	MessageID string `json:"message_id"`
	From      string `json:"from,omitempty"`
	Text      string `json:"text,omitempty"`
	SentAt    int64  `json:"sent_at,omitempty"` // unix ms, as the carrier said; 0 = it did not say
	Received  int64  `json:"received_at"`       // unix ms, by the replica's clock
}

// Match is the answer to an SMS.
type Match struct {
	Result  Result
	Reason  Reason // when unmatched
	Ticket  int64
	Fence   int64
	Epoch   int64
	Granted int64 // unix ms: the lease's time; for one that goes on, Ended is its end as it stands
	Ended   int64
	At      int64 // when Redis matched it, unix ms
}

// Match attributes an SMS to the lease its time lies in, in one step: a match to the current lease ends
// it as completed (unless Keep) and hands the lock to the next in line. The holder is shown nothing
// until SettleMatch.
func (e *Engine) Match(ctx context.Context, id ID, q MatchRequest) (Match, error) {
	shown, err := json.Marshal(q.Shown)
	if err != nil {
		return Match{}, fmt.Errorf("encode message: %w", err)
	}
	note, err := json.Marshal(q.Note)
	if err != nil {
		return Match{}, fmt.Errorf("encode message note: %w", err)
	}
	var m Match
	err = e.index.listed(ctx, id, func(registered int64, fresh string) error {
		res, err := e.run(ctx, matchScript, id, messageKey(q.MessageID), q.From, q.To, q.Guard.Milliseconds(),
			flag(!q.Keep), digest(q.MessageID), shown, string(note[1:len(note)-1]), registered, fresh)
		if err == nil {
			m, err = parseMatch(res)
		}
		return err
	})
	return m, err
}

// SettleMatch tells the engine the ledger's verdict on a matched message: agreed shows it to its holder,
// refused forgets it and answers repeats as ambiguous. Idempotent.
func (e *Engine) SettleMatch(ctx context.Context, id ID, messageID string, agreed bool) error {
	_, err := e.standing(ctx, settleScript, id, messageKey(messageID), digest(messageID), flag(agreed))
	return err
}

func parseMatch(res any) (Match, error) {
	text, _ := res.(string)
	r := reader{fields: strings.Fields(text)}
	code := r.text()
	if code == "register" {
		return Match{}, errRegister
	}
	m := Match{Result: Result(r.text()), Reason: Reason(r.text()), Ticket: r.int(), Fence: r.int(), Epoch: r.int(),
		Granted: r.int(), Ended: r.int(), At: r.int()}
	if code != "ok" || r.short {
		return Match{}, fmt.Errorf("%w: match reply is not readable", ErrStore)
	}
	return m, nil
}

// messageKey is where a message's answer is remembered for a day. The id is the carrier's text, so the
// key holds its digest.
func messageKey(messageID string) string { return "message:" + digest(messageID) }

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}
