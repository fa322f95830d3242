package ledger

import (
	"encoding/json"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// note is a record and its place in the timeline, which is known for ever: what is written there once
// is not applied again.
type note struct {
	noteKey
	room.Record
	applied bool   // before; only its verdict is to be told again
	trace   string // what tasks that follow from it are part of, as a traceparent; "" = nothing that is traced
}

type noteKey struct {
	epoch int64
	entry string
	n     int64
}

// noteAll writes notes and tells which are there for the first time. They go in as one JSON parameter:
// one statement, however many they are.
func (w *work) noteAll(notes []note) (fresh map[noteKey]bool, err error) {
	rows := make([][]any, len(notes))
	for i, n := range notes {
		rows[i] = []any{n.epoch, n.entry, n.n, n.At, plain(n.Type), n.Ticket, n.Fence, plain(n.Seller), detailOf(n.Record)}
	}
	fresh = make(map[noteKey]bool, len(notes))
	err = w.eachRow(func(scan func(...any) error) error {
		var k noteKey
		err := scan(&k.epoch, &k.entry, &k.n)
		fresh[k] = true
		return err
	}, `INSERT INTO timeline (room, epoch, entry, n, at, kind, ticket, fence, seller, detail)
		SELECT $1, CAST(value->>0 AS BIGINT), value->>1, CAST(value->>2 AS BIGINT), CAST(value->>3 AS BIGINT), value->>4,
			CAST(value->>5 AS BIGINT), CAST(value->>6 AS BIGINT), value->>7, value->>8
		FROM `+w.rows()+` WHERE true ON CONFLICT DO NOTHING RETURNING epoch, entry, n`, rows)
	if err != nil {
		return nil, fmt.Errorf("write timeline: %w", err)
	}
	return fresh, nil
}

// note writes one that no journal entry has.
func (w *work) note(epoch int64, entry string, n int64, r room.Record) error {
	_, err := w.noteAll([]note{{noteKey: noteKey{epoch, entry, n}, Record: r}})
	return err
}

// Detail is what a timeline says beyond its columns; nothing of a message's text is in it. Times are unix ms.
type Detail struct {
	Outcome   room.Outcome `json:"outcome,omitempty"`
	EndedAt   int64        `json:"ended_at,omitempty"`
	ExpiresAt int64        `json:"expires_at,omitempty"`
	Since     int64        `json:"since,omitempty"`
	Position  int          `json:"position,omitempty"`
	MessageID string       `json:"message_id,omitempty"`
	Result    room.Result  `json:"result,omitempty"`
	Who       string       `json:"who,omitempty"`
	Action    string       `json:"action,omitempty"` // of an incident its kind, of told the event's
	Reason    string       `json:"reason,omitempty"` // of a message a room.Reason, else what somebody wrote
	Asks      int          `json:"asks,omitempty"`
	Duplicate bool         `json:"duplicate,omitempty"`
}

func detailOf(r room.Record) string {
	b, err := json.Marshal(Detail{Outcome: r.Outcome, EndedAt: r.EndedAt, ExpiresAt: r.ExpiresAt, Since: r.Since,
		Position: r.Position, MessageID: plain(r.MessageID), Result: r.Result, Who: plain(r.Who), Action: plain(r.Action),
		Reason: plain(r.Reason), Asks: r.Asks, Duplicate: r.Duplicate})
	if err != nil { // strings and integers always marshal
		return "{}"
	}
	return string(b)
}

// action writes what support did, under the seller whose place or lease it was.
func (w *work) action(note note) error {
	r := note.Record
	_, err := w.Exec(`INSERT INTO actions (room, epoch, entry, n, at, who, action, reason, ticket, fence, message_id, seller)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, COALESCE(NULLIF($12, ''),
			(SELECT l.seller FROM leases l WHERE l.room = $1 AND l.fence = $10),
			(SELECT p.seller FROM places p WHERE p.room = $1 AND p.epoch = $2 AND p.ticket = $9), ''))`,
		string(w.id), note.epoch, note.entry, note.n, r.At, plain(r.Who), plain(r.Action), plain(r.Reason), r.Ticket, r.Fence,
		plain(r.MessageID), plain(r.Seller))
	return err
}
