package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/waitroom/waitroom/room/wire"
)

// EntryTime returns when Redis wrote an entry, from its id.
func EntryTime(id string) (time.Time, error) {
	parsed := parseEntryID(id)
	if parsed.ms > math.MaxInt64 {
		return time.Time{}, errors.New("entry id is odd")
	}
	return time.UnixMilli(int64(parsed.ms)), nil
}

// CompareEntries orders the journal's ids as Redis does; names that are not ids come last.
func CompareEntries(a, b string) int {
	x, y := parseEntryID(a), parseEntryID(b)
	return cmp.Or(cmp.Compare(x.ms, y.ms), cmp.Compare(x.seq, y.seq), cmp.Compare(a, b))
}

type entryID struct{ ms, seq uint64 }

func parseEntryID(text string) entryID {
	text, _, _ = strings.Cut(text, "~") // the drain's name of an entry whose id another one had
	before, after, _ := strings.Cut(text, "-")
	ms, err := strconv.ParseUint(before, 10, 64)
	seq, errSeq := strconv.ParseUint(after, 10, 64)
	if err != nil || errSeq != nil {
		return entryID{ms: math.MaxUint64, seq: math.MaxUint64}
	}
	return entryID{ms, seq}
}

// Detail is the part of a timeline row that has no column. It has nothing of a message's text. Times are unix
// ms.
type Detail struct {
	Outcome   wire.Outcome `json:"outcome,omitempty"`
	EndedAt   int64        `json:"ended_at,omitempty"`
	ExpiresAt int64        `json:"expires_at,omitempty"`
	Since     int64        `json:"since,omitempty"`
	Position  int          `json:"position,omitempty"`
	MessageID string       `json:"message_id,omitempty"`
	Result    wire.Result  `json:"result,omitempty"`
	Who       string       `json:"who,omitempty"`
	Action    string       `json:"action,omitempty"` // of an incident its kind, of a delivered webhook its event
	Reason    string       `json:"reason,omitempty"` // of a message a wire.Reason, else a person's words
	Asks      int          `json:"asks,omitempty"`
	Duplicate bool         `json:"duplicate,omitempty"`
	Times     int          `json:"times,omitempty"` // refused joins of the hour
}

// DetailOf returns a record's Detail as JSON.
func DetailOf(r wire.Record) string {
	b, err := json.Marshal(Detail{Outcome: r.Outcome, EndedAt: r.EndedAt, ExpiresAt: r.ExpiresAt, Since: r.Since,
		Position: r.Position, MessageID: Plain(r.MessageID), Result: r.Result, Who: Plain(r.Who),
		Action: Plain(r.Action), Reason: Plain(r.Reason), Asks: r.Asks, Duplicate: r.Duplicate})
	if err != nil { // strings and integers always marshal
		return "{}"
	}
	return string(b)
}

// ActionDetail is the part of an action that has no column. Zero fields do not apply, or are not known.
type ActionDetail struct {
	Seconds int64  `json:"seconds,omitempty"` // by how much the lease was extended
	From    int    `json:"from,omitempty"`    // position before a move, from 1 = next
	To      int    `json:"to,omitempty"`      // position after it
	Text    string `json:"text,omitempty"`    // of an announcement
	Until   int64  `json:"until,omitempty"`   // when the effect ends, in unix ms
}

// ActionDetailOf returns a record's ActionDetail as the database has it; "" for none, as in older rows.
func ActionDetailOf(r wire.Record) string {
	d := ActionDetail{Seconds: r.Seconds, From: r.FromPosition, To: r.ToPosition, Text: Plain(r.Text),
		Until: r.Until}
	if d == (ActionDetail{}) {
		return ""
	}
	b, err := json.Marshal(d)
	if err != nil {
		return "" // such a struct always marshals
	}
	return string(b)
}

// Scan reads the output of ActionDetailOf. What is not JSON was edited and counts as nothing; the audit's
// hash chain shows the edit.
func (d *ActionDetail) Scan(value any) error {
	*d = ActionDetail{}
	switch text := value.(type) {
	case string:
		_ = json.Unmarshal([]byte(text), d)
	case []byte:
		_ = json.Unmarshal(text, d)
	}
	return nil
}
