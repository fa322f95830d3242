package templates

// DeskText is every word of support's pages in one language; patterns are as in Text.
type DeskText struct {
	Back       string // to all rooms
	Time       string
	End        string
	What       string
	Seller     string
	Room       string
	Ticket     string
	Fence      string
	Reason     string
	Who        string
	Search     string
	Clear      string
	NextPage   string
	ZoneUTC    string
	ZoneLocal  string // {zone}
	None       string // instead of a value that there is none of
	SignIn     SignInText
	Story      StoryText
	History    HistoryText
	Audit      AuditText
	Deliveries DeliveriesText

	States  map[string]string // how a visit stands or ended, in a few words: an outcome, or waiting, holding, away; "" is every other
	Tags    map[string]string // outcomes and results of messages, in a word; "" is: not over yet
	Reasons map[string]string // why a message belongs to nobody
	Actions map[string]string // what support does, as the audit calls it
	Events  map[string]string // what the integration is told of
	Errors  map[string]Notice // by code; "" is every other

	Live DeskLiveText
}

// SignInText is what the sign-in says.
type SignInText struct {
	Title    string
	Lead     string
	Name     string
	Password string
	Submit   string
	Provider string            // the button to the identity provider
	Failed   string            // before the title of a page with an error, and over the error
	Errors   map[string]string // by code; {n} minutes; "" is every other
	Bounce   Notice
	Go       string
}

// StoryText is how a timeline is told.
type StoryText struct {
	Title      string // {seller}
	Copy       string
	Copied     string
	CopyFailed string
	AllRooms   string
	OneRoom    string // {room}
	OpenRoom   string // {room}
	InHistory  string
	Empty      Notice
	Partial    Notice
	Last       string // before the answer
	Now        string // the same, while the visit goes on
	Visit      string // {n}: the ticket
	NoTicket   string
	Since      string // {from}: it goes on
	Message    string // {id}
	Sep        string // between two parts of a line

	Joined        string // {n}
	Granted       string // {until}
	Waited        string // {span}
	Asked         string
	AskedAgain    string // {n}
	ExtendedBy    string // {who} {until}
	ExtendedBusy  string // {until}: because the number was busy
	Away          string
	Gone          string // {since}
	Back          string
	BackAfter     string            // {span}
	Moved         string            // {n}
	Used          string            // {span} of the turn
	AwayFor       string            // {span}
	Given         string            // {span}: how long the turn was
	Ended         map[string]string // of a turn, by outcome; {who} in forced, {outcome} in ""
	Left          map[string]string // of a waiter, by outcome; {who} in removed, {outcome} in ""
	ForcedByHand  string            // by nobody of support that is known
	Matched       string
	Late          string
	Unmatched     map[string]string // by reason
	Duplicate     string
	Claimed       string
	Rejected      string
	Assigned      string
	Incidents     map[string]string // by kind; {kind} in ""
	Told          string            // {what}
	Did           map[string]string // {who}, by action; {action} in ""
	Agent         string            // {who}: somebody of support, as {who} in the patterns
	Support       string            // the same, where it is not known who
	Because       string            // {why}
	Unknown       string            // {kind}
	Answers       map[string]string // by state, {span} {until} {who}; "" is every other
	AnswerTurn    string            // the holder cancelled
	AnswerByHand  string            // forced by nobody of support
	NeverAsked    string            // the last turn's time ran out: why
	NoMessage     string
	MessageLate   string
	MessageInTime string
}

// HistoryText is what the search in a room's history says.
type HistoryText struct {
	Title     string // {room}
	From      string
	To        string
	Hint      string // how to type a time; UTC
	HintLocal string // the same, with {zone}
	Presets   string // over the next
	Hour      string
	Today     string
	Yesterday string
	Week      string
	Caption   string // {n} rows on this page
	Kind      string
	Details   string
	Kinds     map[string]string
	Filtered  string // before what the rows are narrowed to
	Export    string
	ExportBOM string
	RowLimit  string // {n}
	Empty     string
	Goes      string // of a row that has no end yet
}

// AuditText is what the list of support's actions says.
type AuditText struct {
	Title   string
	Lead    string
	WhoHint string
	Caption string // {n} rows on this page
	Empty   string
}

// DeliveriesText is what the list of given-up deliveries says.
type DeliveriesText struct {
	Title    string
	Lead     string
	Off      Notice
	Pending  string
	Dead     string
	Caption  string // {n}
	Which    string
	Event    string
	GivenUp  string
	Error    string
	Retry    string
	RetryOf  string // {id}: for a screen reader
	Retried  string // {id}
	Watching string // to whom may not act
	Empty    string
	Count    string // {n}
}
