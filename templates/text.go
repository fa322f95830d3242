package templates

import "sync"

// Text is every word of the seller's pages in one language. {name} stands for a
// value, {name:one:other} for a number with its noun: "{n:person:people}".
type Text struct {
	Lang     string
	Brand    string
	SkipTo   string
	Other    string // the other language, in its own words
	OtherTag string

	IdleTitle   string
	IdleLead    string
	Now         string
	Waiting     string
	IfYouJoin   string
	SellerLabel string
	SellerHint  string // {signs}
	SellerFixed string // {seller}
	SellerNone  string
	Join        string
	JoinAgain   string
	JoinNote    string // {lease}

	PausedTitle string
	PausedLead  string

	MyPlace      string
	HolderLeft   string
	ThisTicket   string // {ticket}
	KeepOpen     string // {lease}
	Leave        string
	AlertsTitle  string
	SoundTest    string
	NotifyEnable string

	TimeLeft string
	Done     string
	Cancel   string

	LostTitle   string
	LostLead    string
	LostWaiting string
	LostTurn    string
	LostLong    string

	RequestNow   string
	RequestAgain string
	Busy         string // {left}
	BusyMore     string
	Unclaimed    Question
	EarlierSMS   string
	PastTitle    string
	PastLead     string
	Copy         string
	RejectCode   string
	AskLeave     Question
	AskCancel    Question
	AskDone      Question
	AskReject    Question
	WhyTitle     string
	Why          []string
	AsOf         string // {time}
	Reload       string
	RoomName     string // {room}
	RefreshNote  string // {n}

	Live   LiveText
	Errors map[string]Notice // by the contract's code; "" is every other
	Back   string

	Desk DeskText // support's pages
}

// LiveText is what the browser needs too, to change the page by itself.
type LiveText struct {
	Brand string `json:"brand"`

	Free      string `json:"free"`
	Held      string `json:"held"`
	HeldLeft  string `json:"held_left"` // {left}
	People    string `json:"people"`    // {n}
	StartNow  string `json:"start_now"`
	NoWaits   string `json:"no_waits"`
	NoWaitYet string `json:"no_wait_yet"`

	Unit       string `json:"unit"`
	Next       string `json:"next"`
	Ahead      string `json:"ahead"`      // {n}
	AheadHeld  string `json:"ahead_held"` // {n}
	Started    string `json:"started"`
	Passed     string `json:"passed"` // {n}
	HandingOff string `json:"handing_off"`
	TimeIsUp   string `json:"time_is_up"`

	Soon          string `json:"soon"`
	UnderMinute   string `json:"under_minute"`
	AboutMinutes  string `json:"about_minutes"`   // {m}
	AboutHours    string `json:"about_hours"`     // {h}
	AboutHoursMin string `json:"about_hours_min"` // {h} {m}
	Seconds       string `json:"seconds"`         // {s}
	Minutes       string `json:"minutes"`         // {m}
	MinutesSec    string `json:"minutes_sec"`     // {m} {s}
	Hours         string `json:"hours"`           // {h}
	HoursMin      string `json:"hours_min"`       // {h} {m}
	WaitSoon      string `json:"wait_soon"`       // {max}
	WaitUnder     string `json:"wait_under"`      // {max}
	WaitAbout     string `json:"wait_about"`      // {wait} {max}
	WaitMost      string `json:"wait_most"`       // {max}
	WaitLost      string `json:"wait_lost"`

	Turn      map[string]Notice `json:"turn"` // by body[data-step]
	CodeTitle string            `json:"code_title"`
	TextTitle string            `json:"text_title"` // of a message that has no code
	LateTitle string            `json:"late_title"`
	NoCode    string            `json:"no_code"`
	AwaitSMS  string            `json:"await_sms"`
	Arrived   string            `json:"arrived"` // {time}
	Copied    string            `json:"copied"`
	CopyByOwn string            `json:"copy_by_own"`

	Outcomes     map[string]Notice `json:"outcomes"`     // by the contract's word; "" is every other
	CodeArrived  Notice            `json:"code_arrived"` // the message itself ended the turn
	CodeRejected Notice            `json:"code_rejected"`
	TurnGivenUp  Notice            `json:"turn_given_up"`
	Connection   map[string]string `json:"connection"` // by body[data-connection]
	NotifyOn     string            `json:"notify_on"`
	NotifyOff    string            `json:"notify_off"`
	NoSeller     string            `json:"no_seller"`
	Unreachable  string            `json:"unreachable"`
	WentWrong    string            `json:"went_wrong"`
	SayWaiting   string            `json:"say_waiting"` // {n} {ahead} {wait}
	SayPaused    string            `json:"say_paused"`
	SayResumed   string            `json:"say_resumed"`
	SayTurn      string            `json:"say_turn"` // {left}
	SayLeft      string            `json:"say_left"` // {left}
	SayBusy      string            `json:"say_busy"` // {left}
	SayFree      string            `json:"say_free"`
	SayCode      string            `json:"say_code"` // {code}
	SayText      string            `json:"say_text"` // {text}
	SayPast      string            `json:"say_past"`
	SayUnclaimed string            `json:"say_unclaimed"`
	TitleWaiting string            `json:"title_waiting"`
	TitleTurn    string            `json:"title_turn"` // {clock}
	NotifyTurn   Notice            `json:"notify_turn"`
	NotifyCode   Notice            `json:"notify_code"`
	NotifyText   Notice            `json:"notify_text"`
	Notices      map[string]string `json:"notices"` // what support did for me, by the contract's word
}

// Notice is one thing said: what it is, and what to do about it.
type Notice struct {
	Title string `json:"title"`
	Lead  string `json:"lead"`
}

// Question asks before something that cannot be undone.
type Question struct {
	Title, Lead, Yes, No string
}

// The catalogues are made once; nobody changes them.
var (
	inEnglish = sync.OnceValue(english)
	inKorean  = sync.OnceValue(korean)
)

// TextIn is the text of a language; Korean where there is none in it.
func TextIn(lang string) Text {
	if lang == "en" {
		return inEnglish()
	}
	return inKorean()
}

// notice finds the words for a code, or those for every other.
func notice(of map[string]Notice, code string) Notice {
	if found, ok := of[code]; ok {
		return found
	}
	return of[""]
}
