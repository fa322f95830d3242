package room

import (
	"encoding/json"
	"fmt"

	"github.com/waitroom/waitroom/room/wire"
)

// answer is a verb's reply.
type answer = wire.Reply

// parseAnswer decodes a reply. The answer is valid also with a refusal. The error does not repeat the reply.
func (e *Engine) parseAnswer(res any) (a answer, err error) {
	text, ok := res.(string)
	if !ok {
		return answer{}, fmt.Errorf("%w: reply is a %T", ErrStore, res)
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return answer{}, fmt.Errorf("%w: reply of %d bytes is not readable", ErrStore, len(text))
	}
	if a.Place.Status == "" {
		a.Place.Status = Idle
	}
	return a, codeError(&a)
}

// codeError returns the error of a refusal or of register, and nil for the other known codes.
func codeError(a *answer) error {
	if err, ok := refusals[a.Code]; ok {
		return err
	}
	switch a.Code {
	case "ok", "active", "idle", "asleep", "replayed", "asks":
		return nil
	case "register": // the index entry is too old
		if a.Epoch == 0 && a.Absence != "" {
			return &unknownRoom{a.Absence}
		}
		return errRegister
	}
	return fmt.Errorf("%w: reply code %q", ErrStore, a.Code)
}

// standingOf returns the standing in an answer.
func (e *Engine) standingOf(id ID, a *answer) Standing {
	return Standing{View: a.View, Place: a.Place, LeaseLength: e.Terms(id).Lease, OtherTicket: a.OtherTicket}
}
