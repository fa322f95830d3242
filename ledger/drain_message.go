package ledger

import (
	"fmt"
	"strings"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
)

// judged is the state of a message whose result is known.
const judged = "judged"

// message writes an SMS's result, and judges it if the record requires that. A message's first result stays.
func (r *run) message(n record) error {
	if !complete(n.Record) {
		return fmt.Errorf("%w: message without an id or result", errMalformed)
	}
	before := r.messages[plain(n.MessageID)]
	if before.differsFrom(n.MessageNote) {
		if err := r.addReuseIncident(*before, n.MessageNote); err != nil {
			return err
		}
	}
	if before.state == judged {
		return r.repeatMessage(*before, n.Record)
	}
	if !n.Judge {
		r.conclude(n, "", n.Fence)
		return nil
	}
	if why := r.factsAbout(n).objection(n.Record); why != "" {
		return r.refuseMessage(n, why)
	}
	r.conclude(n, agreed, n.Fence)
	r.verified = append(r.verified, verification{n.epoch, n.Record})
	return r.agreeToMatch(n.Record)
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
			rows.Add(id, plain(smstext.MaskSender(n.From)), plain(smstext.Mask(n.Text)), n.SentAt, n.Received,
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
func (r *run) conclude(n record, verdict string, claimed int64) {
	r.counts.answered(n.Record)
	k := r.messages[plain(n.MessageID)]
	k.state, k.verdict, k.claimed, k.Epoch, k.Fence = judged, verdict, claimed, n.epoch, n.Fence
	r.concluded.Add(plain(n.MessageID), string(n.Result), n.Reason, verdict, number(n.Completes), n.epoch,
		n.Ticket, n.Fence, plain(n.Seller), n.GrantedAt, n.EndedAt, n.At, claimed, number(n.Duplicate),
		number(n.Code))
}

// refuseMessage answers the message as ambiguous, without a lease.
func (r *run) refuseMessage(n record, why string) error {
	none := n
	none.Result, none.Reason, none.Completes = room.Unmatched, string(room.Ambiguous), false
	none.Ticket, none.Fence, none.Seller, none.GrantedAt, none.EndedAt = 0, 0, "", 0, 0
	r.conclude(none, refused, n.Fence)
	return r.refuseMatch(n.epoch, n.Record, why)
}
