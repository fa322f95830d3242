// Package templates renders the seller's pages.
//
// It knows nothing of the engine: handlers fill a view struct of plain values and
// render a component. Components:
//
//	RoomPage(RoomView)   the page of one room, in whatever state its reader is in
//	ErrorPage(ErrorView) a page for a browser that asked for something it cannot have
//
// The pages need nothing but themselves and what is under AssetPrefix, so they are to be served with
// ContentSecurityPolicy. They work by plain forms without JavaScript. What the forms and links send, each
// answered by 303 back to the page:
//
//	POST /rooms/{room}/join   seller_id, lang
//	POST /rooms/{room}/leave  reason=completed|cancelled, fence (only of a holder), confirm=yes
//	POST /rooms/{room}/expect fence, key; message_id where an offered message is claimed
//	POST /rooms/{room}/reject fence, message_id, confirm=yes
//	POST /rooms/{room}/claim  fence (only of a holder)
//	GET  /rooms/{room}?ask=leave|done|reject  shows the page with that Ask
//	GET  /rooms/{room}?not={message_id} shows the page without that offer
//	GET  /rooms/{room}?lang=ko|en switches the language
//
// A leave without confirm=yes is to be answered by 303 to ?ask=leave, or ?ask=done where the reason is
// completed; a reject without it by 303 to ?ask=reject.
//
// # Hooks
//
// What tests, and nobody else's style sheet, may hold on to:
//
//	body[data-state]       idle | waiting | locked | ended, always the state on show
//	body[data-step]        where my turn is: claim (I have to say that I am here) | ask | busy | asked | text (one without a code came) |
//	                       code | again (I rejected it) | over (its time has run out, and how it ended is not known yet); empty in the other states
//	body[data-next]        "true" while first in line
//	body[data-missed]      "true" while my turn went by and I have not said that I am back
//	body[data-hurry]       "true" in the last 30 s of a turn
//	body[data-connection]  off (no script) | connecting | open | stale (the server hears nothing) | lost | closed
//	body[data-paused]      "true" while support has paused the room
//	#seller-id #join       the form's field and button (idle and ended)
//	#error                 what went wrong with the last press (idle and ended); empty otherwise.
//	                       [data-error=waiting], [data-error=locked]: the same in those states
//	#queue-length          who is in the line, in words (idle)
//	#newcomer-estimate     when my turn would come, in words (idle)
//	#position              my place as a bare number (waiting)
//	#ahead                 people ahead, in words (waiting)
//	#estimate              my wait in words; #latest its ceiling, #when my turn by the clock (waiting)
//	#back                  "I am here", after my turn went by (waiting); #missed-by until when, where the browser saw it go by
//	#lease-countdown       what the holder has left, m:ss (waiting)
//	#leave                 asks whether to leave (waiting)
//	#countdown             what I have left, m:ss (locked); until when to claim the turn, while it is to be
//	#claim                 "I am here": before all else, where claims are on (locked)
//	#ask                   "I ask for the code now": step 1 (locked); opens the marketplace where it has a link, once the ask counts,
//	                       which #market does later. #number is the shared number, #number-copy copies it
//	#ask-busy              instead of it while the number is busy; #ask-countdown until when, m:ss
//	#ask-again             "I ask once more", once I have asked (locked)
//	#done #cancel          end my turn (locked); cancel asks first, and so does done before a code has come
//	#leave-confirm         "yes, leave" in the question #leave-dialog; #leave-stay is "no";
//	                       so also #done-dialog and #reject-dialog
//	#unclaimed             on show while a message waits to be claimed; #unclaimed-yes #unclaimed-no
//	#sms-code              the newest code (locked and ended); #sms-copy copies it,
//	                       #sms-reject says that it is wrong, which asks first
//	#sms-title             what the message on show is: a code, a text, or one that came late
//	#return                the way back to where the seller came from (ended)
//	#past                  messages of an earlier turn that came late (waiting and locked)
//	#outcome               how it ended, in words; data-outcome has the contract's word, data-rejected is "true" where the code that
//	                       ended it was rejected
//	#turn-title            what to do in my turn; another once a message has come (locked)
//	#lost                  on show while what the page shows may be old: the connection is gone for over a
//	                       second, or the server hears nothing; #lost-reload reloads, on show after 15 s
//	#connection            connection state in words; #updated the time of the last word heard
//	#say #shout            what screen readers are told, politely and at once
//	#notice                what support did for this seller, empty once it is no longer true
//	#paused                on show while the room is paused and it is not my turn
package templates

// ContentSecurityPolicy is the policy that the pages need. The JSON blocks in them are data and are not
// executed, so they need no script permission.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; worker-src 'self'; manifest-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// The states of a RoomView: the contract's statuses of a state frame.
const (
	StateIdle    = "idle"
	StateWaiting = "waiting"
	StateLocked  = "locked"
	StateEnded   = "ended"
)

// RoomView is a room as one reader sees it at one moment.
type RoomView struct {
	Lang        string // one of Languages; anything else reads as the first
	Room        string // the room's id, already checked
	AssetPrefix string // where static files are, without a closing slash; static.Prefix()

	State   string // StateIdle, StateWaiting, StateLocked or StateEnded
	Outcome string // the contract's word while StateEnded, else empty

	Epoch   string // with Version: what the browser compares frames with
	Version int64

	Ticket         int64 // 0 while idle
	QueuePosition  int   // from 1 = next, while waiting
	JoinedPosition int   // the position at joining; 0 where it is not known
	QueueLength    int   // how many wait
	EstimatedWait  *int  // seconds; a newcomer's while idle; nil while paused or locked
	MaximumWait    *int  // seconds; as EstimatedWait
	LeaseExpiresAt int64 // unix milliseconds of the current lease's end; 0 where free
	ServerTime     int64 // unix milliseconds of the moment of this view
	Fence          int64 // of the present lease while locked; when ended, of the last one, if known; else 0
	LeaseSeconds   int   // how long a turn is in this room
	Paused         bool
	// while waiting: the turn was missed, and the place is passed over until the seller is back
	Unclaimed bool
	ClaimBy   int64 // unix milliseconds until when the lease has to be claimed; 0: it need not be

	Info         RoomInfo
	AwaySeconds  int // a waiter gone for longer is passed over
	DropSeconds  int // and one away for longer than this loses its place
	ClaimSeconds int // how long a turn may stay unclaimed; 0: it needs no claim

	Rejected     bool // the seller rejected the code that ended the turn, once it was over
	JoinedDevice bool // another device was let into this place

	PushKey string // the server's push key, in base64url; empty where it pushes nothing

	SellerID    string // filled in for the seller, or the seller that the token names
	SellerFixed bool   // the token names the seller: the page does not ask for it

	Codes  *CodesView  // of the holder; nil for all others
	AskKey string      // makes repeats of this page's forms one ask
	Offers []OfferView // messages that the holder may claim, oldest first
	SMS    []SMSView   // the seller's, oldest first: this turn's, and late ones

	Error          string // the refusal of the last form, in the reader's language
	ErrorOfSeller  bool   // it is about the seller id
	Ask            string // a question to ask: QuestionLeave, QuestionDone or QuestionReject; else empty
	RefreshSeconds int    // without JavaScript, while waiting or locked; 0 is 5
}

// The questions of a page without JavaScript.
const (
	QuestionLeave  = "leave"
	QuestionDone   = "done"
	QuestionReject = "reject"
)

// CodesView is the holder's asks for codes.
type CodesView struct {
	Asked    int
	Open     int   // how many asks have no code yet
	AskAfter int64 // unix milliseconds: from when it may ask, while the number is busy; else 0
}

// OfferView is a message with a code that may be the holder's own; its text is not shown.
type OfferView struct {
	MessageID  string
	ReceivedAt int64 // unix milliseconds
}

// SMSView is one message that was matched to a lease of the reader.
type SMSView struct {
	MessageID  string
	Text       string
	Code       string // empty where the message has none
	ReceivedAt int64  // unix milliseconds; it is shown for ten minutes
	Late       bool   // its lease was over when it came
	Fence      int64  // of its lease; 0 where it is not known
}

// ErrorView is a page instead of the one asked for.
type ErrorView struct {
	Lang        string
	Languages   []string // that the page may be read in; all where there are none
	AssetPrefix string

	// Code is the contract's code (unknown_room, store_unavailable, …). It picks the words; a code without words
	// of its own gets general ones.
	Code   string
	Detail string // shown instead of the code's words, where it is not empty
	Room   string // the room to go back to; empty where there is none

	Again       int    // in how many seconds the browser reloads by itself; 0: it does not
	AgainAt     string // where it goes then, instead of the page's own address
	DropSeconds int    // a place without news for longer is lost; 0: the page does not mention it
}

func (v ErrorView) languages() []string {
	if len(v.Languages) == 0 {
		return Languages()
	}
	return v.Languages
}

// Passing reports whether a repeat is likely to help.
func (v ErrorView) Passing() bool {
	switch v.Code {
	case "store_unavailable", "too_many_requests", "room_full", "keys_unavailable", "internal", "draining", "too_many_places":
		return true
	}
	return false
}
