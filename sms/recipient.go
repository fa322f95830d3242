package sms

import (
	"regexp"
	"strings"

	"github.com/waitroom/waitroom/room"
)

// korean matches a Korean number that a provider wrote with its country code and without "+".
var korean = regexp.MustCompile(`^82[0-9]{8,11}$`)

// SameNumber reports whether two texts are one telephone number. They are compared as senders are
// (room.OneOf); a number such as 821012345678 also counts as +821012345678, as some providers write it.
func SameNumber(a, b string) bool {
	return room.OneOf(international(a), []string{international(b)})
}

func international(number string) string {
	plain := strings.NewReplacer("-", "", " ", "").Replace(number)
	if korean.MatchString(plain) {
		return "+" + plain
	}
	return number
}
