package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
)

// errMalformed is wrapped by errors of records that no program of this version could apply.
var errMalformed error = sqldb.DataError("record is odd")

// deadLetterMalformed stores a malformed record as a dead letter; the rest of its entry is applied.
func (w *work) deadLetterMalformed(rec record, err error) error {
	if errors.Is(err, errMalformed) {
		err = w.deadLetter(room.Entry{ID: fmt.Sprintf("%s/%d", rec.entry, rec.n), Epoch: rec.epoch,
			Records: []room.Record{rec.Record}}, err)
	}
	if err != nil {
		return fmt.Errorf("entry %s: %s: %w", rec.entry, rec.Type, err)
	}
	return nil
}

// deadLetter stores an entry that cannot be applied in table parked, for a person to look at. The entries
// behind it go on.
func (w *work) deadLetter(e room.Entry, why error) error {
	stored, err := w.Exec(`INSERT INTO parked (room, epoch, entry, body, error) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`, string(w.id), e.Epoch, e.ID, plain(bodyOf(e)), plain(why.Error()))
	if err == nil && stored > 0 {
		w.deadLetters = append(w.deadLetters, deadLetter{entry: e.ID, err: why})
	}
	return err
}

type deadLetter struct {
	entry string
	err   error
}

// bodyOf returns an entry's content, without digits that could be a code.
func bodyOf(e room.Entry) string {
	if e.Odd != nil {
		return codeRuns.ReplaceAllString(e.Raw, "****")
	}
	records := slices.Clone(e.Records)
	for i := range records {
		records[i].Text, records[i].From = smstext.Mask(records[i].Text), smstext.MaskSender(records[i].From)
	}
	body, err := json.Marshal(records)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// codeRuns are runs of digits as long as a code; times and fences are longer.
var codeRuns = regexp.MustCompile(`\b[0-9]{4,8}\b`)

// plain is schema.Plain.
func plain(text string) string { return schema.Plain(text) }
