package templates

import "github.com/waitroom/waitroom/ledger/history"

// DeskView is the reader and address of a page of support.
type DeskView struct {
	Lang        string // "ko" or "en"
	AssetPrefix string
	Agent       string // the signed-in agent; "" = none
	MayAct      bool   // may act, and not only watch
	Query       string // of the page's address, without the language
	Found       string // the last search text of the field on every page; "" elsewhere than on FindPage
}

// SignInView is the form of /support/sign-in.
type SignInView struct {
	DeskView
	Next  string // where to go afterwards: a path of support's own
	Name  string // as it was typed
	Error string // a code: wrong_password, too_many_requests, not_admitted, too_many_groups, sign_in_denied,
	// sign_in_expired, store_unavailable, provider_unavailable; "" = none
	Minutes int  // with too_many_requests: to wait, rounded up
	OIDC    bool // one button to the provider instead of name and password
}

// BounceView is a page that redirects by itself. Browsers send a SameSite cookie only with a request from a
// page of this site.
type BounceView struct {
	DeskView
	Next string
}

// RoomsView is /support: all rooms, live over /api/support/ws.
type RoomsView struct {
	DeskView
	Names []RoomName // of rooms, and of prefixes with their star
}

// DeskRoomView is /support/{room}: one room, live over /api/support/{room}/ws.
type DeskRoomView struct {
	DeskView
	Room         string
	LeaseSeconds int
	Hours        bool     // the room has opening hours
	AllSenders   bool     // the room takes texts of every sender
	Lately       []string // the senders of its codes of late, if so
}

// StoryView is a seller's timeline: /support/-/sellers/{seller}, of one room with ?room=.
type StoryView struct {
	DeskView
	Seller  string
	Room    string // "" = every room
	Events  []StoryEvent
	Partial bool // the ledger is away: only entries that it has not taken in yet are shown
}

// StoryEvent is one event. Kind selects the fields that count; see read.TimelineRow.
type StoryEvent struct {
	At                   int64 // unix ms
	Room                 string
	Epoch, Ticket, Fence int64
	Kind                 string
	Outcome              string
	Result, Reason       string // of a message
	ExpiresAt, Since     int64
	Position, Asks       int
	MessageID            string
	Who, Action, Why     string // of support
	Duplicate            bool
	Times                int // refused joins
}

// FindView is /support/-/find: the rooms and sellers that have a text.
type FindView struct {
	DeskView
	Rooms   []RoomName
	Sellers []FoundSeller
	Near    bool   // no seller has the text: these differ from it by a character or two
	More    bool   // there are more sellers than are listed
	Partial bool   // the ledger is away: only sellers that it has not taken in yet are found
	Error   string // a code: ledger_unavailable, store_unavailable; "" = none
}

// FoundSeller is a seller, with the place and time (unix ms) of its last event.
type FoundSeller struct {
	Seller, Room string
	At           int64
}

// RoomName is a room, or a prefix with its star, and its name in ROOMS_FILE.
type RoomName struct {
	Room        string `json:"room"`
	Name        string `json:"name"`
	Phone       string `json:"phone"`
	Marketplace string `json:"marketplace"`
}

// HistoryView is /support/{room}/history.
type HistoryView struct {
	DeskView
	Room     string
	Seller   string
	From, To string // as typed: a date or an instant
	Error    string // a code: invalid_time, invalid_cursor, ledger_unavailable; "" = none
	Rows     []history.Row
	Next     string // the query of the next page; "" = this is the last
	Export   string // the address of the same rows as CSV
	RowLimit int    // how many rows an export has at the most
}

// AuditView is /support/-/audit.
type AuditView struct {
	DeskView
	Who, Action, Room string // the filter
	From, To          string // as typed: a date or an instant
	Rows              []history.Audited
	Next              string // the query of the next page
	Error             string // a code: invalid_time, invalid_cursor, ledger_unavailable; "" = none
	CSV, JSON         string // the addresses of all these rows as a file
	RowLimit          int    // how many rows a file has at the most
}

// SignInsView is the page of the agents that are signed in.
type SignInsView struct {
	DeskView
	Rows  []SignInRow
	Error string
	Ended bool // a sign-in was just ended
	Gone  bool // a sign-in that was to be ended was over
}

// SignInRow is one sign-in.
type SignInRow struct {
	Key          string // its public name
	Who          string
	MayAct, Own  bool  // Own: it is the reader's
	Since, Until int64 // unix ms
}

// DeliveriesView is /support/-/deliveries: the webhooks that were given up.
type DeliveriesView struct {
	DeskView
	Enabled       bool // webhooks are configured
	Pending, Dead int
	Rows          []Delivery
	Error         string
	Retried       int64  // the id that was just put back; 0 = none
	RetriedAll    int64  // so many were just put back; 0 = none
	FailingSince  int64  // unix ms: since when an event that is not given up fails; 0 = none does
	LastError     string // of that
}

// Delivery is one webhook that was given up.
type Delivery struct {
	ID        int64
	Key       string // room and fence
	Type      string
	At        int64 // unix ms: when it happened
	GivenUp   int64 // unix ms
	LastError string
}
