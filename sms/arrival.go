package sms

import (
	"strings"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
)

// Arrival is a message or an event that came, and what became of it. It has no text, no code, and no number
// in full.
type Arrival struct {
	Source  string  // name of the source; "" = a carrier that signs as Standard Webhooks, or an unknown source
	Room    room.ID // "" = it reached none
	From    string  // the sender, masked; "" = not known
	Signed  bool    // its signature was right
	Refused bool
	Outcome string // a result, a reason, an event's name, or the code of a refusal
	Detail  string // why, in English; "" = the outcome has it all
}

func (s *Service) arrived(a Arrival) {
	if s.Arrived != nil {
		s.Arrived(a)
	}
}

// reasons are why a message belongs to no lease.
var reasons = map[room.Reason]string{
	room.NoLease:     "no seller had a turn when it was sent",
	room.Ambiguous:   "it could belong to several sellers",
	room.NotExpected: "no seller had asked for such a message when it was sent",
	room.Rejected:    "a seller has said that it is not theirs",
	room.WrongNumber: "it was sent to another number, or another SIM card, than the room's",
}

// taken describes a message that was answered.
func taken(id room.ID, source string, q room.MatchRequest, m room.Match) Arrival {
	a := Arrival{Source: source, Room: id, From: smstext.MaskSender(q.Sender), Signed: true,
		Outcome: string(m.Result)}
	var why []string
	if m.Result == room.Unmatched {
		a.Outcome = string(m.Reason)
		why = append(why, reasons[m.Reason])
	}
	switch {
	case q.Foreign && m.Reason == room.NotExpected:
		why = []string{"its sender is not in sms_from of the room"}
	case q.Personal:
		why = append(why, "it is from a personal number and the room has no sms_from, so it ends no turn")
	}
	if q.Shown.Code == nil {
		why = append(why, "no code was found in it, so it ends no turn")
	}
	if q.Again || m.Duplicate {
		why = append(why, "it came before, and has the first one's answer")
	}
	a.Detail = strings.Join(why, "; ")
	return a
}
