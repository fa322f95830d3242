package smstext

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// OneOf reports whether a list contains a sender.
//
// A sender with letters is compared whole, ignoring case. Any other sender is compared by its digits: +82
// counts as 0, and as nothing before an eight-digit number that begins with 1. The words of a URI and of an
// MMS around a number (tel:, sms:, /TYPE=PLMN) are no letters of it.
func OneOf(sender string, list []string) bool {
	is := Sender(sender)
	for _, other := range list {
		if Sender(other) == is {
			return true
		}
	}
	return false
}

// around matches a number with what an address of a URI or an MMS has around it.
var around = regexp.MustCompile(`^(?:tel:|sms:)?([^a-z]*)(?:/type=[a-z0-9]*)?$`)

func foldedSender(sender string) string { return strings.ToLower(strings.TrimSpace(Normal(sender))) }

// Sender returns the form in which OneOf compares senders.
func Sender(sender string) string {
	sender = around.ReplaceAllString(foldedSender(sender), "$1")
	if strings.ContainsFunc(sender, unicode.IsLetter) {
		return sender
	}
	digits := strings.Map(func(r rune) rune {
		if !isDigit(r) {
			return -1
		}
		return r
	}, sender)
	if digits == "" {
		return sender
	}
	plus := strings.IndexByte(sender, '+')
	if plus < 0 || plus > strings.IndexFunc(sender, isDigit) || !strings.HasPrefix(digits, "82") {
		return digits
	}
	national := strings.TrimPrefix(digits[2:], "0")
	if len(national) == 8 && national[0] == '1' { // such as 1588-1234, a number without an area code
		return national
	}
	return "0" + national
}

// personal matches the digits of a Korean mobile number, after its country code and its first zero.
var personal = regexp.MustCompile(`^(?:(?:00[0-9]{0,3})?82)?0?1[016789][0-9]{7,8}$`)

// betweenDigits may stand between the digits of a number.
var betweenDigits = strings.NewReplacer(" ", "", "-", "", ".", "", "·", "", "(", "", ")", "")

// Personal reports whether a sender has a personal number, from which anybody can write. These are Korean
// mobile numbers (010, 011, 016 to 019) in any spelling, also with a name beside them.
func Personal(sender string) bool {
	runs := strings.FieldsFunc(betweenDigits.Replace(foldedSender(sender)),
		func(r rune) bool { return !isDigit(r) })
	return slices.ContainsFunc(runs, personal.MatchString)
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
