package templates

// RoomInfo is an operator's description of a room for people; each field may be empty.
type RoomInfo struct {
	Name        string // its display name; empty: its id
	Phone       string // the shared number that codes come to
	Marketplace MarketplaceInfo
	Support     SupportInfo
	ReturnURL   string // where a seller goes after the turn
}

// MarketplaceInfo is where a seller asks for its code.
type MarketplaceInfo struct {
	Name string
	URL  string // https
}

// SupportInfo is whom a seller asks.
type SupportInfo struct {
	Text string // shown as it is
	URL  string // https
	Tel  string // digits, spaces, + and -
}
