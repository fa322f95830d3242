package sms

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
)

// NumberedRoom is a room that a message can be sent to by its number.
type NumberedRoom struct {
	ID     room.ID
	Source Source
	Phone  string // "" = not known
	SIM    string // the card that has the number, of a phone that does not name the number; "" = not known
}

// noRoom is the code of a message that reached no room.
const noRoom = "no_room"

// ReceiveAny is ReceiveFrom without a room: each message goes to the one room with this source whose number
// it was sent to. A message for no room, or for several, is refused: it is reported to support, and the
// answer is WrongNumber, since the sender can do nothing about it.
//
// A room counts if the signature is right by the source that it has itself. So a secret brings messages only
// to the rooms that have it.
func (s *Service) ReceiveAny(ctx context.Context, name string, r Request) ([]Answer, error) {
	var rooms []NumberedRoom
	if s.Numbered != nil {
		rooms = s.Numbered(name)
	}
	if len(rooms) == 0 {
		return nil, ErrUnknownSource
	}
	begun := time.Now()
	r.Now = time.UnixMilli(s.now(begun))
	of, signed, err := verifiedBy(rooms, r)
	if err != nil {
		s.refuse(rooms[0].ID, name, err, begun)
		return nil, err
	}
	posts, err := of.Parse(r)
	s.heard(ctx, signed[0].ID, name, posts, err)
	if err != nil && !errors.Is(err, ErrIgnored) {
		s.refuse(signed[0].ID, name, err, begun)
	}
	return s.answerAll(posts, err, func(p Post) (Answer, error) {
		p.To = numberOf(p.To)
		to := roomsOf(signed, p)
		if len(to) != 1 {
			s.reachesNoRoom(name, signed, to, p)
			return Answer{Result: room.Unmatched, Reason: room.WrongNumber}, nil
		}
		return s.takePost(ctx, to[0].ID, name, p, begun)
	})
}

// verifiedBy returns the source by which a request is signed, and the rooms that have it.
func verifiedBy(rooms []NumberedRoom, r Request) (of Source, signed []NumberedRoom, err error) {
	tried := make(map[Source]error)
	for _, one := range rooms {
		fault, known := tried[one.Source]
		if !known {
			fault = one.Source.Verify(r)
			tried[one.Source] = fault
		}
		if fault != nil {
			err = fault
			continue
		}
		if of == nil {
			of = one.Source
		}
		signed = append(signed, one)
	}
	if of != nil {
		return of, signed, nil
	}
	return nil, nil, err
}

// roomsOf returns the rooms that a message was sent to: those with its number, or, where no number tells,
// those with its card.
func roomsOf(rooms []NumberedRoom, p Post) (to []NumberedRoom) {
	for _, one := range rooms {
		if p.To != "" && one.Phone != "" && SameNumber(p.To, one.Phone) {
			to = append(to, one)
		}
	}
	if len(to) > 0 {
		return to
	}
	for _, one := range rooms {
		if (p.To == "" || one.Phone == "") && SameSIM(p.SIM, one.SIM) {
			to = append(to, one)
		}
	}
	return to
}

// reachesNoRoom counts and reports a message that reached no room. The rooms that it may be for get the
// report, or else the first room by whose source it is signed.
func (s *Service) reachesNoRoom(name string, signed, to []NumberedRoom, p Post) {
	s.metrics.answers.WithLabelValues(noRoom).Inc()
	number := "a number that it does not name"
	switch {
	case p.To != "":
		number = smstext.MaskSender(p.To)
	case p.SIM != "":
		number = "SIM " + smstext.MaskSender(p.SIM)
	}
	detail := fmt.Sprintf("It was sent to %s, which no room has as its phone", number)
	if len(to) == 0 {
		to = signed[:1]
	} else {
		detail = fmt.Sprintf("It was sent to %s, which %d rooms have", number, len(to))
	}
	s.arrived(Arrival{Source: name, From: smstext.MaskSender(p.From), Signed: true, Refused: true,
		Outcome: noRoom, Detail: detail})
	for _, one := range to {
		s.refusals.add(refusal{one.ID, noRoom}, detail)
	}
}
