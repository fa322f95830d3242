package ledger

import (
	"encoding/json"

	"github.com/waitroom/waitroom/room"
)

// ActionDetail is what an action was beyond its columns. Zero fields do not apply to it, or are not known.
type ActionDetail struct {
	Seconds int64 `json:"seconds,omitempty"` // how much more time was given
	From    int   `json:"from,omitempty"`    // the position before a move, from 1 = next
	To      int   `json:"to,omitempty"`      // and after it
}

func actionDetail(r room.Record) ActionDetail {
	return ActionDetail{Seconds: r.Seconds, From: r.FromPosition, To: r.ToPosition}
}

// text returns the detail as the database has it; "" for none, as in rows from before there were any.
func (d ActionDetail) text() string {
	if d == (ActionDetail{}) {
		return ""
	}
	b, err := json.Marshal(d)
	if err != nil {
		return "" // integers always marshal
	}
	return string(b)
}

// Scan reads what text wrote. A text that somebody edited says nothing; the chain of hashes finds it.
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
