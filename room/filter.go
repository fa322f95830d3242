package room

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/waitroom/waitroom/room/smstext"
)

// The limits of a filter.
const (
	maxSenders = 10
	maxPiece   = 64 // most characters of a sender, and of Contains
)

// Filter restricts the messages that answer an ask. The zero value accepts every message.
type Filter struct {
	From     []string `json:"from,omitempty"`     // accepted senders, as in smstext.OneOf; empty = all
	Contains string   `json:"contains,omitempty"` // in the message, without regard to case, width and blanks
}

// Valid returns ErrInvalidExpect for more than 10 senders, an empty sender, a blank Contains, and over 64
// characters.
func (f Filter) Valid() error {
	blank := f.Contains != "" && smstext.Folded(f.Contains) == ""
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
func (e *Engine) sealFilter(id ID, f Filter) (string, error) {
	if len(f.From) == 0 && f.Contains == "" {
		return "", nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		return "", fmt.Errorf("encode filter: %w", err)
	}
	return e.sealer(id).Seal(b, aboutFilter(id)), nil
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
	shownFit  fit = "shown"  // it does, but the code does not answer the ask: see MatchRequest.Personal
	sealedFit fit = "sealed" // this process cannot open the ask's filter
)

func (f Filter) fit(q MatchRequest) fit {
	switch {
	case !strings.Contains(smstext.Folded(q.Shown.Text), smstext.Folded(f.Contains)),
		len(f.From) > 0 && !smstext.OneOf(q.Sender, f.From):
		return noFit
	case q.Personal && len(f.From) == 0:
		return shownFit
	}
	return yesFit
}

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
