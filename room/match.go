package room

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

var (
	matchVerb  = newVerb[matchArgs]("match")
	settleVerb = newVerb[settleArgs]("settle")
)

type matchArgs struct {
	Message    []byte // JSON of a matchMessage
	Registered int64
	Begins     string // the blank that a room may be begun in place of; "" = none
}

type settleArgs struct {
	Digest string // of the message
	Agreed bool
	Fence  int64 // of the lease that the verdict is on; 0 = whichever the message belongs to
}

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
	NoLease     Reason = "no_lease"     // nobody held the lock
	Ambiguous   Reason = "ambiguous"    // two leases could have caused it
	NotExpected Reason = "not_expected" // no lease that could have caused it asked for it
	Rejected    Reason = "rejected"     // its holder said that it is not its own
)

// MatchRequest is an SMS to be matched.
type MatchRequest struct {
	MessageID string        // the carrier's; a repeat is told what the first was told
	From, To  int64         // the half-open time it was sent in, unix ms by the carrier's clock; both 0 = it did not say
	Age       time.Duration // since this replica read it, by its monotonic clock
	ReadAt    int64         // when it was first read, unix ms by Redis's clock as far as is known; 0 = not known
	Again     bool          // it was read before, by whichever replica
	Guard     time.Duration // widens its time on both sides: how far the carrier's clock may be off
	Keep      bool          // a match does not end the lease
	Sender    string        // as the carrier wrote it
	Foreign   bool          // the room takes no messages from this sender: it belongs to nobody
	Part      Part          // zero: it is whole
	Shown     Message       // what the holder sees once the ledger agreed; with a Code where there is one
	Note      MessageNote   // what the journal keeps; holds no secret
}

// Part says which piece of a long message this is.
type Part struct {
	Ref   string // the carrier's word for the whole
	Parts int    // of how many
	Part  int    // from 1
}

// MessageNote is what the ledger keeps of an SMS: its digits are masked.
type MessageNote struct {
	MessageID   string `json:"message_id"`
	From        string `json:"from,omitempty"`
	Text        string `json:"text,omitempty"`
	SentAt      int64  `json:"sent_at,omitempty"`     // unix ms, as the carrier said; 0 = it did not say
	Received    int64  `json:"received_at"`           // unix ms, by Redis's clock as far as the replica knew it
	Fingerprint string `json:"fingerprint,omitempty"` // keyed digest of sender, text and time: tells a reused id
}

// Match is the answer to an SMS.
type Match struct {
	Result    Result
	Reason    Reason // when unmatched
	Ticket    int64
	Fence     int64
	Epoch     int64
	Granted   int64 // unix ms: the lease's time; for one that goes on, Ended is when the message was matched
	Ended     int64
	At        int64 // when Redis matched it, unix ms
	Duplicate bool  // the same sender and text as a message before
	Judge     bool  // the ledger has to agree before it is shown
	Completes bool  // it ended the lease
	Version   int64 // of the room after an assignment; 0 = not told
	Forgotten bool  // of an assigned message: its text was forgotten before, and nobody is shown it
}

// matchMessage is what match.lua is handed of a message: nothing of the text that is not sealed or a keyed digest.
type matchMessage struct {
	Digest      string         `json:"digest"`
	ID          string         `json:"id"`
	From        int64          `json:"from"`
	To          int64          `json:"to"`
	Age         float64        `json:"age"`
	Read        int64          `json:"read"`
	First       int64          `json:"first"`
	Guard       int64          `json:"guard"`
	Completes   bool           `json:"completes"`
	Code        bool           `json:"code"`
	Foreign     bool           `json:"foreign"`
	Fingerprint string         `json:"fingerprint"`
	Fits        map[string]fit `json:"fits"`
	Part        int            `json:"part"`
	Parts       int            `json:"parts"`
	Same        string         `json:"same"`
	Sealed      string         `json:"sealed"`
	Members     string         `json:"members"`
}

// Match attributes an SMS to the lease that caused it, in one step: a code for the current lease ends it as completed (unless
// Keep, or another ask is open) and hands the lock to the next in line. The holder is shown nothing until SettleMatch.
func (e *Engine) Match(ctx context.Context, id ID, q MatchRequest) (Match, error) {
	began := time.Now()
	m, own, err := e.matchMessage(id, q)
	if err != nil {
		return Match{}, err
	}
	m.Fits = e.memory.fits(id, q.Sender, q.Shown.Text)
	var found Match
	err = e.index.listed(ctx, id, func(l listing) error {
		for range maxTrips {
			m.Age = float64((q.Age+time.Since(began)).Microseconds()+1) / 1000
			text, err := json.Marshal(m)
			if err != nil {
				return fmt.Errorf("encode message: %w", err)
			}
			res, err := e.run(ctx, matchVerb.with(matchArgs{text, l.at, l.absence}), id, own)
			if err != nil {
				return err
			}
			if reply, ok := res.(string); ok && strings.HasPrefix(reply, "asks ") {
				e.learn(id, strings.Fields(reply)[1:], q, m.Fits)
				continue
			}
			var now position
			if found, now, err = parseMatch(res); err == nil && !e.cfg.Silent {
				e.memory.observeMatch(id, now, found)
			}
			return err
		}
		return fmt.Errorf("%w: the asks changed %d times meanwhile", ErrStore, maxTrips)
	})
	return found, err
}

// maxTrips bounds how often a match is tried again because asks were made meanwhile: each time names all that are unknown.
const maxTrips = 10

func (e *Engine) matchMessage(id ID, q MatchRequest) (m matchMessage, own []string, err error) {
	d := digest(q.MessageID)
	m = matchMessage{Digest: d, ID: jsonText(q.MessageID), From: q.From, To: q.To, Read: q.ReadAt, Guard: q.Guard.Milliseconds(),
		Completes: !q.Keep, Code: q.Shown.Code != nil, Foreign: q.Foreign, Part: q.Part.Part, Parts: q.Part.Parts, Fingerprint: e.Fingerprint(id, q)}
	if q.Again {
		m.First = q.ReadAt
	}
	sender := plainSender(q.Sender)
	known := []string{string(id), "same", sender, q.Shown.Text}
	m.Same = e.sealer(id).digest(known...)
	own = []string{messageKey(q.MessageID), "same:" + m.Same, "parts:"}
	for _, other := range e.sealer(id).otherDigests(known...) {
		own = append(own, "same:"+other)
	}
	if m.Part != 0 {
		own[2] += e.sealer(id).digest(string(id), "parts", sender, q.Part.Ref, strconv.Itoa(q.Part.Parts))
	}
	q.Shown.MessageID = q.MessageID
	shown, err := json.Marshal(q.Shown)
	if err != nil {
		return m, nil, fmt.Errorf("encode message: %w", err)
	}
	m.Sealed = e.sealer(id).seal(shown, aboutMessage(id, d))
	q.Note.Fingerprint = m.Fingerprint
	note, err := json.Marshal(q.Note)
	if err != nil {
		return m, nil, fmt.Errorf("encode message note: %w", err)
	}
	m.Members = string(note[1 : len(note)-1])
	return m, own, nil
}

// Fingerprint tells a message from another that comes with the same id.
func (e *Engine) Fingerprint(id ID, q MatchRequest) string {
	return e.sealer(id).digest(string(id), "fingerprint", plainSender(q.Sender), q.Shown.Text, strconv.FormatInt(q.From, 10))
}

// learn opens the filters that matching.lua has to know a message's fit to.
func (e *Engine) learn(id ID, sealed []string, q MatchRequest, fits map[string]fit) {
	for _, text := range sealed {
		f, ok := e.openFilter(id, text)
		if !ok {
			fits[filterName(text)] = sealedFit
			continue
		}
		e.memory.learnFilter(id, text, f)
		fits[filterName(text)] = fitOf(f, q.Sender, q.Shown.Text)
	}
}

// SettleMatch tells the engine the ledger's verdict on a message that was matched, claimed or assigned: agreed shows it to its holder,
// refused makes it nobody's, and answers repeats of a match as ambiguous. A verdict on a lease that the message belongs to no more
// changes nothing; fence 0 is whichever it belongs to. Idempotent.
func (e *Engine) SettleMatch(ctx context.Context, id ID, messageID string, fence int64, agreed bool) error {
	_, err := e.standing(ctx, settleVerb.with(settleArgs{digest(messageID), agreed, fence}), id, messageKey(messageID))
	return err
}

// parseMatch reads a match and at which mark the room is.
func parseMatch(res any) (m Match, now position, err error) {
	text, _ := res.(string)
	r := reader{fields: strings.Fields(text)}
	code := r.text()
	if code == register {
		epoch := r.int()
		return Match{}, position{}, registerError(epoch, r.fields)
	}
	m = Match{Result: Result(r.text()), Reason: Reason(r.text()), Ticket: r.int(), Fence: r.int(), Epoch: r.int(),
		Granted: r.int(), Ended: r.int(), At: r.int(), Duplicate: r.text() == "1", Judge: r.text() == "1", Completes: r.text() == "1"}
	now = position{epoch: r.int(), version: r.int(), lineage: r.text()}
	if code != "ok" || r.short {
		return Match{}, position{}, fmt.Errorf("%w: match reply is not readable", ErrStore)
	}
	return m, now, nil
}

// messageKey is where a message's answer is remembered for a day. The id is the carrier's text, so the
// key holds its digest.
func messageKey(messageID string) string { return "sms:" + digest(messageID) }

// aboutMessage is what a sealed message belongs to.
func aboutMessage(id ID, digest string) string { return string(id) + "/" + digest }

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}
