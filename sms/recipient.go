package sms

import (
	"regexp"
	"strings"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
)

// korean matches the digits of a Korean number that was written with its country code and without "+".
var korean = regexp.MustCompile(`^(?:00[0-9]{0,3}?)?82([0-9]{8,11})$`)

// SameNumber reports whether two texts are one telephone number. They are compared as senders are
// (smstext.OneOf); 821012345678, 00821012345678 and 001-82-10-1234-5678 also count as +821012345678, as some
// providers and phones write it.
func SameNumber(a, b string) bool {
	return smstext.OneOf(international(a), []string{international(b)})
}

func international(number string) string {
	digits := strings.Map(func(r rune) rune {
		if r = smstext.Plain(r); r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
	if found := korean.FindStringSubmatch(digits); found != nil {
		return "+82" + found[1]
	}
	return number
}

// SameSIM reports whether two texts name one card of a phone: 1, SIM1, SIM-1 and SIM1_KT are one.
func SameSIM(a, b string) bool { return card(a) != "" && card(a) == card(b) }

// slot matches a text that begins with the slot of a card: one digit, since more may be a telephone number.
var slot = regexp.MustCompile(`^(?:u?sim|slot)?[ _:#-]*([0-9])(?:[^0-9]|$)`)

func card(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if found := slot.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return text
}

// astray reports whether a message was sent to another number than the room's: the number that it names
// tells, or else its card.
func (s *Service) astray(id room.ID, source string, m message) bool {
	if phone := s.phone(id); phone != "" && m.to != "" {
		return !SameNumber(m.to, phone)
	}
	if s.SIM == nil || m.sim == "" {
		return false
	}
	own := s.SIM(id, source)
	return own != "" && !SameSIM(m.sim, own)
}

func (s *Service) phone(id room.ID) string {
	if s.Phone == nil {
		return ""
	}
	return s.Phone(id)
}
