package templates

// DeskLiveText is what the live pages of support say. What has a name in JSON the browser needs too, to change them by itself.
type DeskLiveText struct {
	Top   DeskTopText   `json:"-"`
	Rooms DeskRoomsText `json:"-"`
	Room  DeskRoomText  `json:"-"`

	People     string `json:"people"`   // {n}
	ShortMs    string `json:"short_ms"` // {n}, as in each of these
	ShortS     string `json:"short_s"`
	ShortM     string `json:"short_m"`
	ShortH     string `json:"short_h"`
	AgeFresh   string `json:"age_fresh"`
	AgeOld     string `json:"age_old"` // {s}
	Connecting string `json:"connecting"`
	BandAge    string `json:"band_age"` // {s}
	BandStale  string `json:"band_stale"`
	BandLost   string `json:"band_lost"`
	BandClosed string `json:"band_closed"`

	Troubles   map[string]string `json:"troubles"` // by the contract's word
	Calm       string            `json:"calm"`
	Unowned    string            `json:"unowned"`   // {n}
	Incidents  string            `json:"incidents"` // {n}
	StoreStale string            `json:"store_stale"`
	Behind     string            `json:"behind"`
	LedgerLate string            `json:"ledger_behind"`
	NoAnswer   string            `json:"no_answer"` // of a store
	Draining   string            `json:"draining"`
	Fine       string            `json:"fine"`
	Free       string            `json:"free"`
	FreePaused string            `json:"free_paused"`
	FreeEmpty  string            `json:"free_empty"`
	FreeAway   string            `json:"free_away"`
	NoMatch    string            `json:"no_match"`
	NoRooms    string            `json:"no_rooms"`
	NoLine     string            `json:"no_line"`
	Shown      string            `json:"shown"` // {n} {all}
	Frozen     string            `json:"-"`     // the order waits for the pointer

	Ticket      string `json:"ticket"`     // {ticket}
	AwayCount   string `json:"away_count"` // {n}
	Connected   string `json:"connected"`
	AwayFor     string `json:"away_for"` // {time}
	NobodyNext  string `json:"nobody_next"`
	Nobodys     string `json:"nobodys"`
	Asks        string `json:"asks"` // {n} {open}
	AsksNone    string `json:"asks_none"`
	AskAfter    string `json:"ask_after"` // {time}
	Over        string `json:"over"`
	Pause       string `json:"pause"`
	Resume      string `json:"resume"`
	Undo        string `json:"undo"`
	ActionsFor  string `json:"actions_for"` // {seller}
	Unreachable string `json:"unreachable"`
	WentWrong   string `json:"went_wrong"`

	Act      map[string]DeskAct  `json:"act"`      // by the verb of the API
	Reasons  map[string][]string `json:"reasons"`  // the same; "undo" has one
	Effects  map[string]string   `json:"effects"`  // what an action leads to
	Outdated map[string]string   `json:"outdated"` // why an open dialog has nothing to do any more
	Refusals map[string]string   `json:"refusals"` // by the contract's code
	About    map[string]string   `json:"about"`    // whom or what an action is about: seller, line, message
	MovedTo  string              `json:"moved_to"` // in the row itself
	NoReason string              `json:"no_reason"`
	LongText string              `json:"long_text"` // {n}

	Results  map[string]string `json:"results"` // of a message: unmatched, late
	Whys     map[string]string `json:"whys"`    // by the contract's reason
	Offered  string            `json:"offered"`
	HasCode  string            `json:"has_code"`
	From     string            `json:"from"`      // {from}
	SentAt   string            `json:"sent_at"`   // {time}
	Could    string            `json:"could"`     // before the list of leases
	NobodyIs string            `json:"nobody_is"` // no lease could have caused it
	AskedAt  string            `json:"asked_at"`  // {time}
	HeldFrom string            `json:"held_from"` // {from} {to}
	HeldNow  string            `json:"held_now"`  // {from}
	Live     string            `json:"live"`
	AssignTo string            `json:"assign_to"`
	Incident map[string]string `json:"incident"` // by the contract's word; "" is every other
	NoItems  string            `json:"-"`

	Charts   map[string]DeskChart `json:"charts"`   // depth, waits, delays, outcomes
	Series   map[string]string    `json:"series"`   // by field of a minute
	Outcomes map[string]string    `json:"outcomes"` // short, for a chart
	Minute   string               `json:"minute"`
	Table    string               `json:"table"`
	Plot     string               `json:"plot"`
	NoData   string               `json:"no_data"`
}

// DeskAct is an action in a dialog: its question, its button, and what is said when it is done.
type DeskAct struct {
	Title string `json:"title"`
	Yes   string `json:"yes"`
	Done  string `json:"done"`
}

// DeskChart is a figure's heading and what it says to who cannot see it.
type DeskChart struct {
	Title string `json:"title"`
	Label string `json:"label"`
}

// DeskTopText is what every page of support has at its head.
type DeskTopText struct {
	Desk       string
	Nav        string
	Rooms      string
	Audit      string
	Deliveries string
	SignOut    string
	MayAct     string
	MayWatch   string
	NeedScript string
}

// DeskRoomsText is what stands on the page of all rooms.
type DeskRoomsText struct {
	Title, Search, SearchHint                                string
	AllRooms, Waiting, Held, Trouble, OnlyTrouble            string
	Room, State, Holder, WaitingNow, Away, Oldest, PerMinute string
	AwayLong, OldestLong, PerMinuteLong, Replicas, Help      string
	Keys                                                     []DeskKey
}

// DeskRoomText is what stands on the page of one room.
type DeskRoomText struct {
	Back, History, Help, Age                               string
	Holder, Fence, GrantedAt, Asks, Next, TimeLeft         string
	Extend, Release                                        string
	Line, Search, SearchHint, Position, TicketNumber       string
	Seller, Waited, State, Actions, Move, Remove, Timeline string
	Items, Charts, Replicas                                string
	Sockets, Watchers, Store, Ledger                       string

	Who, Effect, Reason, ReasonFree, Seconds, SecondsUnit string
	NewPosition, Lease, Cancel                            string
	StaleWarning                                          string

	HelpTitle, HelpKeys, Close string
	Keys                       []DeskKey
}

// DeskKey is a key and what it does.
type DeskKey struct{ Keys, What string }

func (t DeskTopText) role(act bool) string {
	if act {
		return t.MayAct
	}
	return t.MayWatch
}
