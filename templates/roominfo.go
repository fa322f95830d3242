package templates

import "time"

// RoomInfo is an operator's description of a room for people; each field may be empty.
type RoomInfo struct {
	Name        string // its display name; empty: its id
	Phone       string // the shared number that codes come to
	Marketplace MarketplaceInfo
	// Marketplaces are all of the room, of which the seller chooses one; Marketplace is the chosen one.
	Marketplaces []MarketplaceInfo
	Support      SupportInfo
	ReturnURL    string // where a seller goes after the turn
	Brand        Brand
	Zone         *time.Location // of its opening hours; nil: it has none

	chosen int // place of Marketplace among Marketplaces
}

// MarketplaceInfo is where a seller asks for its code.
type MarketplaceInfo struct {
	Name     string   `json:"name"`
	URL      string   `json:"url"`                // https
	From     []string `json:"from,omitempty"`     // senders of its codes; none: all
	Contains string   `json:"contains,omitempty"` // text of its codes; "" = any
}

// Choose returns the description with one of the marketplaces chosen, by its place in the list; the first, if
// there is no such place.
func (i RoomInfo) Choose(at int) RoomInfo {
	if at < 0 || at >= len(i.Marketplaces) {
		at = 0
	}
	if len(i.Marketplaces) > 0 {
		i.Marketplace, i.chosen = i.Marketplaces[at], at
	}
	return i
}

// SupportInfo is whom a seller asks.
type SupportInfo struct {
	Text string // shown as it is
	URL  string // https
	Tel  string // digits, spaces, + and -
}
