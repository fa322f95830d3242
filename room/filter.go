package room

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The limits of a filter.
const (
	maxSenders = 10
	maxPiece   = 64 // most characters of a sender, and of Contains
)

// Filter restricts the messages that answer an ask. The zero value accepts every message.
type Filter struct {
	From     []string `json:"from,omitempty"`     // accepted senders, compared as OneOf does; empty = all
	Contains string   `json:"contains,omitempty"` // in the message, without regard to case, width and blanks
}

// Valid returns ErrInvalidExpect for more than 10 senders, an empty sender, a blank Contains, and over 64
// characters.
func (f Filter) Valid() error {
	blank := f.Contains != "" && folded(f.Contains) == ""
	if len(f.From) > maxSenders || blank || utf8.RuneCountInString(f.Contains) > maxPiece {
		return ErrInvalidExpect
	}
	for _, sender := range f.From {
		if strings.TrimSpace(sender) == "" || utf8.RuneCountInString(sender) > maxPiece {
			return ErrInvalidExpect
		}
	}
	return nil
}

// sealFilter returns the sealed text of a filter, which the Lua library stores unread; "" = any message.
func (k *Keyring) sealFilter(id ID, f Filter) (string, error) {
	if len(f.From) == 0 && f.Contains == "" {
		return "", nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		return "", fmt.Errorf("encode filter: %w", err)
	}
	return k.seal(b, aboutFilter(id)), nil
}

// openFilter returns the filter in a sealed text. ok is false if this process does not know the secret; then
// the ask accepts no message.
func (e *Engine) openFilter(id ID, sealed string) (f Filter, ok bool) {
	b, err := e.unseal(id, sealed, aboutFilter(id))
	if err != nil || json.Unmarshal(b, &f) != nil {
		return Filter{}, false
	}
	return f, true
}

func aboutFilter(id ID) string { return string(id) + "/filter" }

// fit is Go's answer to matching.lua: whether the filter of an ask accepts a message.
type fit string

const (
	yesFit    fit = "yes"
	noFit     fit = "no"
	shownFit  fit = "shown"  // it does, but the message's code does not answer the ask: see Personal
	sealedFit fit = "sealed" // this process cannot open the ask's filter
)

func (f Filter) fit(q MatchRequest) fit {
	switch {
	case !strings.Contains(folded(q.Shown.Text), folded(f.Contains)),
		len(f.From) > 0 && !OneOf(q.Sender, f.From):
		return noFit
	case q.Personal && len(f.From) == 0:
		return shownFit
	}
	return yesFit
}

// OneOf reports whether a list contains a sender.
//
// A sender with letters is compared whole, ignoring case. Any other sender is compared by its digits: +82
// counts as 0, and as nothing before an eight-digit number that begins with 1. The words of a URI and of an
// MMS around a number (tel:, sms:, /TYPE=PLMN) are no letters of it.
func OneOf(sender string, list []string) bool {
	is := plainSender(sender)
	for _, other := range list {
		if plainSender(other) == is {
			return true
		}
	}
	return false
}

// around matches a number with what an address of a URI or an MMS has around it.
var around = regexp.MustCompile(`^(?:tel:|sms:)?([^a-z]*)(?:/type=[a-z0-9]*)?$`)

func foldedSender(sender string) string {
	return strings.ToLower(strings.TrimSpace(norm.NFC.String(strings.Map(Plain, sender))))
}

func plainSender(sender string) string {
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

// filters caches the filters of a room's asks by their names. With it most matches need one round trip.
type filters struct {
	known map[string]Filter
	used  time.Time
}

const (
	filtersPerRoom = 64
	filtersKept    = time.Hour // how long a filter is kept after its last use
)

// filterName returns a unique name of a sealed filter: the id of its key and its nonce. The number of an ask
// is no such name, since after a loss of data another ask has the same number. matching.lua names filters in
// the same way.
func filterName(sealed string) string { return sealed[:min(len(sealed), 25)] }

// learnFilter caches a filter under the name of its sealed text.
func (m *memory) learnFilter(id ID, sealed string, f Filter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	x := &m.of(id, now).filters
	if x.known == nil || len(x.known) >= filtersPerRoom {
		x.known = make(map[string]Filter) // matching.lua returns the dropped filters that a match needs
	}
	x.known[filterName(sealed)], x.used = f, now
}

// fits returns whether each cached filter accepts a message, by the filters' names.
func (m *memory) fits(id ID, q MatchRequest) map[string]fit {
	m.mu.Lock()
	known := maps.Clone(m.known(id).filters.known)
	m.mu.Unlock() // every room of the process waits for it, and a long message takes time
	fits := make(map[string]fit, len(known))
	for name, f := range known {
		fits[name] = f.fit(q)
	}
	return fits
}
