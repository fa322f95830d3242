package room

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/waitroom/waitroom/room/smstext"
	"github.com/waitroom/waitroom/room/wire"
)

var (
	matchVerb  = newVerb[matchArgs]("match")
	settleVerb = newVerb[settleArgs]("settle")
)

type matchArgs struct {
	Message []byte // JSON of a matchMessage
}

type settleArgs struct {
	Digest string // of the message
	Agreed bool
	Fence  int64 // of the lease that the verdict is on; 0 = the lease that the message belongs to
}

// Match is what became of a message; see room/wire.
type (
	Match       = wire.Match
	Result      = wire.Result
	Reason      = wire.Reason
	MessageNote = wire.MessageNote
)

// The results, and the reasons of Unmatched.
const (
	Matched   = wire.Matched
	Late      = wire.Late
	Unmatched = wire.Unmatched

	NoLease     = wire.NoLease
	Ambiguous   = wire.Ambiguous
	NotExpected = wire.NotExpected
	Rejected    = wire.Rejected
	WrongNumber = wire.WrongNumber
)

// MatchRequest is an SMS to be matched.
type MatchRequest struct {
	MessageID string // from the carrier; a repeat returns what the first call returned
	// From and To are the half-open time in which the message was sent. They are unix ms of the carrier's
	// clock; both 0 = the carrier gave no time.
	From, To int64
	Age      time.Duration // since this replica read the message, by its monotonic clock
	ReadAt   int64         // when a replica first read it: estimated unix ms of Redis's clock; 0 = not known
	Again    bool          // this or another replica read the message before
	Guard    time.Duration // most that the carrier's clock may be off: widens From and To on both sides
	Keep     bool          // a match does not end the lease
	Sender   string        // as the carrier wrote it
	Foreign  bool          // the room accepts no messages of this sender: the message is unmatched
	Astray   bool          // sent to another number than the room's: unmatched, and it has no duplicates
	// Personal is true if anybody may have written the message. Its code ends a turn only if the turn's ask
	// names the sender.
	Personal bool
	Part     Part        // zero for a whole message
	Shown    Message     // for the holder once the ledger agreed; with Code if the text has one
	Note     MessageNote // for the journal, without secrets
}

// Part identifies a piece of a long message.
type Part struct {
	Ref   string // the carrier's reference of the whole message
	Parts int    // number of parts
	Part  int    // this part, from 1
}

// matchMessage is the message for match.lua. It has the text only sealed and as keyed digests.
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
	Astray      bool           `json:"astray"`
	Personal    bool           `json:"personal"`
	Fingerprint string         `json:"fingerprint"`
	Fits        map[string]fit `json:"fits"`
	Part        int            `json:"part"`
	Parts       int            `json:"parts"`
	Whole       string         `json:"whole"`
	Same        []string       `json:"same"`
	Stamped     []string       `json:"stamped"`
	SameCode    []string       `json:"same_code"`
	LikeCodes   []string       `json:"like_codes"`
	Sealed      string         `json:"sealed"`
	Members     string         `json:"members"`
}

// Match returns the lease that caused an SMS (rule 12 of docs/contract.md).
//
// A code for the current lease ends that lease as completed, unless Keep is set or another ask is open, and
// the next waiter is granted in the same step. The holder sees the message after SettleMatch. Error:
// ErrStore.
func (e *Engine) Match(ctx context.Context, id ID, q MatchRequest) (Match, error) {
	began := time.Now()
	m, err := e.matchMessage(id, q)
	if err != nil {
		return Match{}, err
	}
	m.Fits = e.memory.fits(id, q)
	var found Match
	err = e.index.listed(ctx, id, func(l listing) error {
		for range maxTrips {
			m.Age = float64((q.Age+time.Since(began)).Microseconds()+1) / 1000
			text, err := json.Marshal(m)
			if err != nil {
				return fmt.Errorf("encode message: %w", err)
			}
			res, err := e.run(ctx, matchVerb.with(matchArgs{text}).begins(l), id)
			if err != nil {
				return err
			}
			a, err := e.parseAnswer(res)
			if a.Code == "asks" {
				e.learn(id, a.Filters, q, m.Fits)
				continue
			}
			if a, err = requireMatch(a, err); err != nil {
				return err
			}
			if found = *a.Match; !e.cfg.Silent {
				e.memory.observeMatch(id, position{a.Epoch, a.Version, a.Lineage}, found)
			}
			return nil
		}
		return fmt.Errorf("%w: the asks changed %d times meanwhile", ErrStore, maxTrips)
	})
	return found, err
}

// requireMatch returns an answer, with an error if it has no match.
func requireMatch(a answer, err error) (answer, error) {
	if err == nil && a.Match == nil {
		err = fmt.Errorf("%w: reply has no match", ErrStore)
	}
	return a, err
}

// maxTrips bounds the round trips of a match while new asks arrive. Each reply lists all filters that Go has
// yet to compare.
const maxTrips = 10

// matchMessage returns a request as match.lua gets it, without Age and Fits. Of the digests, Same is of the
// sender and text, and Stamped also of time and part. SameCode is of a code of at least smstext.DistinctCode
// bytes, and LikeCodes are of all in the text that could be one.
func (e *Engine) matchMessage(id ID, q MatchRequest) (m matchMessage, err error) {
	d := digest(q.MessageID)
	m = matchMessage{Digest: d, ID: jsonText(q.MessageID), From: q.From, To: q.To, Read: q.ReadAt,
		Guard: q.Guard.Milliseconds(), Completes: !q.Keep, Code: q.Shown.Code != nil,
		Foreign: q.Foreign || q.Astray, Astray: q.Astray, Personal: q.Personal, Part: q.Part.Part,
		Parts: q.Part.Parts, Fingerprint: e.Fingerprint(id, q)}
	if q.Again {
		m.First = q.ReadAt
	}
	keys, sender, text := e.sealer(id), smstext.Sender(q.Sender), smstext.Same(q.Shown.Text)
	m.Same, m.Stamped = keys.Digests(string(id), "same", sender, text), []string{}
	m.SameCode, m.LikeCodes = []string{}, []string{}
	if q.From != 0 {
		m.Stamped = keys.Digests(string(id), "stamped", sender, text, strconv.FormatInt(q.From, 10),
			strconv.Itoa(m.Part))
	}
	if code := q.Shown.Code; code != nil && len(*code) >= smstext.DistinctCode {
		m.SameCode = keys.Digests(string(id), "code", smstext.SameCode(*code))
	}
	for _, code := range smstext.CodesIn(q.Shown.Text) {
		m.LikeCodes = append(m.LikeCodes, keys.Digests(string(id), "code", code)...)
	}
	if m.Part != 0 {
		m.Whole = keys.Digest(string(id), "parts", sender, q.Part.Ref, strconv.Itoa(q.Part.Parts))
	}
	q.Shown.MessageID = q.MessageID
	shown, err := json.Marshal(q.Shown)
	if err != nil {
		return m, fmt.Errorf("encode message: %w", err)
	}
	m.Sealed = keys.Seal(shown, aboutMessage(id, d))
	q.Note.Fingerprint = m.Fingerprint
	note, err := json.Marshal(q.Note)
	if err != nil {
		return m, fmt.Errorf("encode message note: %w", err)
	}
	m.Members = string(note[1 : len(note)-1])
	return m, nil
}

// Fingerprint returns a keyed digest of sender, text and time. It differs for another message with the same
// id.
func (e *Engine) Fingerprint(id ID, q MatchRequest) string {
	sender, at := smstext.Sender(q.Sender), strconv.FormatInt(q.From, 10)
	return e.sealer(id).Digest(string(id), "fingerprint", sender, q.Shown.Text, at)
}

// learn opens the filters that matching.lua returned, and adds whether each accepts the message.
func (e *Engine) learn(id ID, sealed []string, q MatchRequest, fits map[string]fit) {
	for _, text := range sealed {
		f, ok := e.openFilter(id, text)
		if !ok {
			fits[filterName(text)] = sealedFit
			continue
		}
		e.memory.learnFilter(id, text, f)
		fits[filterName(text)] = f.fit(q)
	}
}

// SettleMatch records the ledger's verdict on a message that was matched, claimed or assigned.
//
// If the ledger agreed, the message is shown to its holder. If not, the message is unmatched, and a repeat of
// a match returns Ambiguous. A verdict on a lease that the message no longer belongs to changes nothing;
// fence 0 means the message's lease. It is idempotent. Error: ErrStore.
func (e *Engine) SettleMatch(ctx context.Context, id ID, messageID string, fence int64, agreed bool) error {
	_, err := e.standing(ctx, settleVerb.with(settleArgs{digest(messageID), agreed, fence}), id)
	return err
}

// aboutMessage returns the associated data of a sealed message.
func aboutMessage(id ID, digest string) string { return string(id) + "/" + digest }

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}
