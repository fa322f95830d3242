package ledger

import (
	"fmt"
	"strings"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// judged is the state of a message whose result is known.
const judged = "judged"

// message writes an SMS's result, and judges it if the record requires that. A message's first result stays.
func (w *work) message(b *batch, rec record) error {
	r := rec.Record
	if !complete(r) {
		return fmt.Errorf("%w: message without an id or result", errMalformed)
	}
	before := b.messages[plain(r.MessageID)]
	if before.differsFrom(r.MessageNote) {
		if err := w.addReuseIncident(*before, r.MessageNote); err != nil {
			return err
		}
	}
	if before.state == judged {
		return w.repeatMessage(*before, r)
	}
	if !r.Judge {
		w.conclude(b, rec.epoch, r, "", r.Fence)
		return nil
	}
	if why := b.factsAbout(rec).objection(r); why != "" {
		return w.refuseMessage(b, rec.epoch, r, why)
	}
	w.conclude(b, rec.epoch, r, agreed, r.Fence)
	b.verified = append(b.verified, verification{rec.epoch, r})
	return w.agreeToMatch(r)
}

// complete reports whether a message can be written.
func complete(r room.Record) bool { return r.MessageID != "" && r.Result != "" }

// knownMessage is the ledger's row of a message.
type knownMessage struct {
	state       string
	claimed     int64
	received    int64 // when it first arrived, unix ms
	verdict     string
	fingerprint string
	room.Match
}

// insertMessages inserts the messages that the ledger does not have, and returns the ledger's row of each, by
// id. It masks digits again, whether or not the caller did. The first row of an id stays.
func (w *work) insertMessages(notes []room.MessageNote) (map[string]*knownMessage, error) {
	found := make(map[string]*knownMessage, len(notes))
	rows := dialect.NewRows(len(notes), "message_id TEXT", "sender TEXT", "body TEXT", "sent_at BIGINT",
		"received_at BIGINT", "fingerprint TEXT")
	for _, n := range notes {
		id := plain(n.MessageID)
		if found[id] == nil { // only the first of an id is inserted
			found[id] = new(knownMessage)
			rows.Add(id, plain(room.MaskSender(n.From)), plain(room.Mask(n.Text)), n.SentAt, n.Received,
				plain(n.Fingerprint))
		}
	}
	return found, w.EachRow(func(scan func(...any) error) error {
		var id string
		var k knownMessage
		err := scan(&id, &k.state, &k.claimed, &k.Result, &k.Reason, &k.Epoch, &k.Ticket, &k.Fence, &k.Granted,
			&k.Ended, &k.At,
			&k.received, &k.Duplicate, &k.verdict, &k.fingerprint)
		if err == nil {
			*found[id] = k
		}
		return err
	}, rows, `INSERT INTO messages (room, message_id, state, sender, body, sent_at, received_at, fingerprint)
		SELECT $1, message_id, 'received', sender, body, sent_at, received_at, fingerprint FROM v WHERE true
		ON CONFLICT (room, message_id) DO UPDATE SET message_id = excluded.message_id
		RETURNING message_id, state, claimed, result, reason, epoch, ticket, fence, granted_at, ended_at,
		matched_at, received_at,
			duplicate, verdict, fingerprint`, string(w.id))
}

// differsFrom reports whether another message came with this one's id. It compares fingerprints only if the
// same key made both; the key's name comes before the colon.
func (k knownMessage) differsFrom(n room.MessageNote) bool {
	first, _, _ := strings.Cut(k.fingerprint, ":")
	second, _, _ := strings.Cut(plain(n.Fingerprint), ":")
	return first == second && k.fingerprint != plain(n.Fingerprint)
}

// addReuseIncident adds an incident, once for each message.
func (w *work) addReuseIncident(first knownMessage, n room.MessageNote) error {
	return w.addIncident(first.Epoch, alarm{kind: "message_id_reused", message: n.MessageID, at: n.Received,
		detail: "a message came with the id of one before and another sender, text or time; the first one's " +
			"answer stays"})
}

// repeatMessage handles a message whose result is known. If it is matched to another lease than the first
// time, that is an incident: the room forgot its answer.
func (w *work) repeatMessage(before knownMessage, r room.Record) error {
	if r.Judge {
		w.repeatVerdict(r, before.verdict == agreed && before.Fence == r.Fence)
	}
	if before.claimed == r.Fence || r.Result != room.Matched {
		return nil
	}
	return w.addIncident(0, alarm{kind: "message_matched_twice", message: r.MessageID, ticket: r.Ticket,
		fence:  r.Fence,
		seller: r.Seller, detail: "a message was matched to a second lease; the first answer stays", at: r.At})
}

// conclude sets a message's result; claimed is the fence that the room matched it to.
func (w *work) conclude(b *batch, epoch int64, r room.Record, verdict string, claimed int64) {
	w.counts.answered(r)
	k := b.messages[plain(r.MessageID)]
	k.state, k.verdict, k.claimed, k.Epoch, k.Fence = judged, verdict, claimed, epoch, r.Fence
	b.concluded.Add(plain(r.MessageID), string(r.Result), r.Reason, verdict, number(r.Completes), epoch,
		r.Ticket, r.Fence, plain(r.Seller), r.GrantedAt, r.EndedAt, r.At, claimed, number(r.Duplicate),
		number(r.Code))
}

// refuseMessage answers the message as ambiguous, without a lease.
func (w *work) refuseMessage(b *batch, epoch int64, r room.Record, why string) error {
	none := r
	none.Result, none.Reason, none.Completes = room.Unmatched, string(room.Ambiguous), false
	none.Ticket, none.Fence, none.Seller, none.GrantedAt, none.EndedAt = 0, 0, "", 0, 0
	w.conclude(b, epoch, none, refused, r.Fence)
	return w.refuseMatch(epoch, r, why)
}
