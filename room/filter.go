package room

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// What a filter may have.
const (
	maxSenders = 10
	maxPiece   = 64 // characters
)

// Filter is what a message must be like to be the answer to an ask. The zero value takes every message.
type Filter struct {
	From     []string `json:"from,omitempty"`     // its sender is one of these; compared by their digits, +82 as 0
	Contains string   `json:"contains,omitempty"` // and its text has this piece
}

// Valid is ErrInvalidExpect for more than 10 senders, for a blank one, and for one or a piece of over 64 characters.
func (f Filter) Valid() error {
	if len(f.From) > maxSenders || utf8.RuneCountInString(f.Contains) > maxPiece {
		return ErrInvalidExpect
	}
	for _, sender := range f.From {
		if strings.TrimSpace(sender) == "" || utf8.RuneCountInString(sender) > maxPiece {
			return ErrInvalidExpect
		}
	}
	return nil
}

// sealFilter writes a filter for the scripts, which only hand it on; "" takes every message.
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

// openFilter reads it. One that was sealed with a secret that is not known here takes no message: nobody can say what it wants.
func (e *Engine) openFilter(id ID, sealed string) (f Filter, ok bool) {
	b, err := e.unseal(id, sealed, aboutFilter(id))
	if err != nil || json.Unmarshal(b, &f) != nil {
		return Filter{}, false
	}
	return f, true
}

func aboutFilter(id ID) string { return string(id) + "/filter" }

// fits reports whether a message is like that.
func (f Filter) fits(sender, text string) bool {
	if !strings.Contains(norm.NFC.String(text), norm.NFC.String(f.Contains)) {
		return false
	}
	return len(f.From) == 0 || OneOf(sender, f.From)
}

// OneOf reports whether a sender is one of a list. A sender with letters is compared whole, whatever its case; one without by its digits, with +82 as 0,
// and as nothing before an eight-digit number that begins with 1.
func OneOf(sender string, list []string) bool {
	is := plainSender(sender)
	for _, other := range list {
		if plainSender(other) == is {
			return true
		}
	}
	return false
}

func plainSender(sender string) string {
	sender = strings.ToLower(strings.TrimSpace(norm.NFC.String(strings.Map(Plain, sender))))
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
	if len(national) == 8 && national[0] == '1' { // 1588-1234 is called so from everywhere in Korea
		return national
	}
	return "0" + national
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// filters are the filters of a room's asks, by their names: with them most messages need no second question.
type filters struct {
	known map[string]Filter
	used  time.Time
}

const (
	filtersPerRoom = 64
	filtersKept    = time.Hour // after the last use
)

// filterName returns the start of a sealed filter: the id of its key and its nonce, which no other has. An ask is no name for its filter:
// where the store loses it, the next one has its number. matching.lua names filters so too.
func filterName(sealed string) string { return sealed[:min(len(sealed), 25)] }

// learnFilter remembers a filter by its sealed text.
func (m *memory) learnFilter(id ID, sealed string, f Filter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	x := &m.of(id, now).filters
	if x.known == nil || len(x.known) >= filtersPerRoom {
		x.known = make(map[string]Filter) // those that are still needed are asked for again
	}
	x.known[filterName(sealed)], x.used = f, now
}

// fit is what matching.lua is told of an ask and a message.
type fit string

const (
	yesFit    fit = "yes"
	noFit     fit = "no"
	sealedFit fit = "sealed" // the ask's filter can not be read here
)

func fitOf(f Filter, sender, text string) fit {
	if f.fits(sender, text) {
		return yesFit
	}
	return noFit
}

// fits returns which of the filters that are known a message fits, by their names.
func (m *memory) fits(id ID, sender, text string) map[string]fit {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.known(id).filters
	fits := make(map[string]fit, len(x.known))
	for name, f := range x.known {
		fits[name] = fitOf(f, sender, text)
	}
	return fits
}
