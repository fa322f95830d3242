// Package templates renders the pages of sellers, of the support desk and of the API's description.
//
// It does not know the engine: handlers fill a view struct of plain values and render a component, such as
//
//	RoomPage(RoomView)   the page of one room, in its reader's state
//	ErrorPage(ErrorView) a page for a browser whose request is refused
//
// The pages load only themselves and the files under AssetPrefix, so they have to be served with
// ContentSecurityPolicy. The room's page works by plain forms without JavaScript. Its forms and links send
// these requests; each POST is answered by 303 back to the page:
//
//	POST /rooms/{room}/join   seller_id, lang
//	POST /rooms/{room}/leave  reason=completed|cancelled, fence (only of a holder), confirm=yes
//	POST /rooms/{room}/expect fence, key; message_id where an offered message is claimed
//	POST /rooms/{room}/reject fence, message_id, confirm=yes
//	POST /rooms/{room}/claim  fence (only of a holder)
//	GET  /rooms/{room}?ask=leave|done|reject  shows the page with that Ask
//	GET  /rooms/{room}?not={message_id} shows the page without that offer
//	GET  /rooms/{room}?entered={message_id} folds that code: the seller has entered it
//	GET  /rooms/{room}?lang={lang} switches to one of Languages
//
// Of a room with a Brand they also load GET /rooms/{room}/brand/{digest}/logo and …/style.
//
// The server answers a leave without confirm=yes by 303 to ?ask=leave, or ?ask=done where the reason is
// completed; a reject without it by 303 to ?ask=reject.
//
// # Hooks
//
// Tests may rely on these; a foreign style sheet may not:
//
//	body[data-state]       idle | waiting | locked | ended, always the state on show
//	body[data-step]        the turn's step: claim (the seller has to claim it) | ask | busy | asked |
//	                       text (one without a code came) | code | again (the seller rejected it) |
//	                       over (the time has run out, the outcome is unknown yet); empty in the other states
//	body[data-next]        "true" while first in line
//	body[data-missed]      "true" after a missed turn, until the seller is back
//	body[data-hurry]       "true" in the last 30 s of a turn
//	body[data-connection]  off (no script) | connecting | open | stale (the server gets no news) | lost |
//	                       closed
//	body[data-ending]      the sign of how it ended: done | time | left | note; empty in the other states
//	body[data-entered]     "true" once the seller has entered the code of a turn that it completed
//	body[data-messages]    "true" while a message is shown; body[data-offer]: while one waits to be claimed
//	body[data-paused]      "true" while support has paused the room
//	body[data-closed]      "true" while the reader can not join, since the room is closed
//	#seller-id #join       the form's field and button (idle and ended)
//	#error                 the error of the last press (idle and ended); empty otherwise.
//	                       [data-error=waiting], [data-error=locked]: the same in those states
//	#check                 turns on sound and notifications, and tries both; #check-result what came of it
//	                       (idle)
//	#queue-length          the line, in words (idle)
//	#newcomer-estimate     the wait of a seller who joins now, in words (idle)
//	#position              the place as a bare number (waiting)
//	#ahead                 people ahead, in words (waiting)
//	#estimate              the wait in words; #latest its ceiling, #when the turn by the clock (waiting)
//	#back                  "I am here", after a missed turn (waiting); #missed-by until when, where the
//	                       browser saw the turn go by
//	#lease-countdown       the holder's time left, m:ss (waiting)
//	#leave                 asks whether to leave (waiting)
//	#countdown             the seller's time left, m:ss (locked); until when to claim the turn, before that
//	#claim                 "I am here": before all else, where claims are on (locked)
//	#ask                   "I ask for the code now": step 1 (locked); opens the marketplace where it has a
//	                       link, once the ask counts, which #market does later. #number is the shared
//	                       number, #number-copy copies it
//	#ask-countdown         until when the number is busy, m:ss (locked)
//	#ask-again             "I ask once more", after an ask (locked)
//	#done #cancel          end the turn (locked); cancel asks first, and so does done before a code has come
//	#leave-confirm         "yes, leave" in the question #leave-dialog; #leave-stay is "no";
//	                       so also #done-dialog and #reject-dialog
//	#unclaimed             visible while a message waits to be claimed; #unclaimed-yes #unclaimed-no
//	#sms-code              the newest code (locked and ended); #sms-copy copies it,
//	                       #sms-reject rejects it, which asks first
//	#sms-title             the kind of the message on show: a code, a text, or a late one
//	#entered               "I have entered it", beside a code that ended its turn (ended)
//	#return                the way back to the page that the seller came from (ended)
//	#past                  messages of an earlier turn that came late (waiting and locked)
//	#outcome               how it ended, in words; data-outcome has the contract's word, data-rejected is
//	                       "true" where the seller rejected the code that ended it
//	#turn-title            the next step of the turn; another once a message has come (locked)
//	#lost                  visible while the page may be old: the connection is gone for over a
//	                       second, or the server gets no news; #lost-reload reloads, visible after 15 s
//	#connection            connection state in words; #updated the time of the last news
//	#say #shout            announcements for screen readers, politely and at once
//	#notice                what support did for this seller, empty once it is no longer true
//	#paused                visible while the room is paused, outside of the seller's own turn
//	#closed                visible while the room is closed, to a seller without a place
package templates

import "github.com/waitroom/waitroom/room/wire"

// ContentSecurityPolicy is the policy that the pages need. The JSON blocks in them are data and are not
// executed, so they need no script permission.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"worker-src 'self'; manifest-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// The states of a RoomView: the contract's statuses of a state frame.
const (
	StateIdle    = "idle"
	StateWaiting = "waiting"
	StateLocked  = "locked"
	StateEnded   = "ended"
)

// RoomView is what one reader sees of a room at one time.
type RoomView struct {
	Lang        string // one of Languages; anything else reads as the first
	Room        string // the room's id, already checked
	AssetPrefix string // where static files are, without a closing slash; static.Prefix()

	State   string // StateIdle, StateWaiting, StateLocked or StateEnded
	Outcome string // the contract's word while StateEnded, else empty

	Epoch   string // with Version: what the browser compares frames with
	Version int64

	Ticket         int64        // 0 while idle
	QueuePosition  int          // from 1 = next, while waiting
	JoinedPosition int          // the position at joining; 0 where it is not known
	QueueLength    int          // how many wait
	EstimatedWait  *int         // seconds; a newcomer's while idle; nil while paused or locked
	MaximumWait    *int         // seconds; as EstimatedWait
	LeaseExpiresAt int64        // unix milliseconds of the current lease's end; 0 where free
	ServerTime     int64        // unix milliseconds of the moment of this view
	OpensAt        int64        // unix milliseconds of when the room takes new places again; 0: it does
	Notice         *wire.Notice // support's announcement, in the page's language; nil: there is none
	SpreadSeconds  float64      // how far the lengths of turns lie from their average; 0: not known yet
	HoldSeconds    float64      // the average turn by the room's history; 0: none is needed, or there is none
	Holds          int          // from how many turns the room's own average comes, counted to 9
	Fence          int64        // of the present lease; when ended, of the last one, if known; else 0
	LeaseSeconds   int          // how long a turn is in this room
	wire.Public
	wire.Marks
	ClaimBy int64 // unix milliseconds until when the lease has to be claimed; 0: it need not be

	Session string // the reader's session, masked, see session.js; "" = the page need not know it

	Plain bool // the page's script did not run in this browser

	Info         RoomInfo
	AwaySeconds  int // a waiter gone for longer is passed over
	DropSeconds  int // and one away for longer than this loses its place
	ClaimSeconds int // how long a turn may stay unclaimed; 0: it needs no claim

	Rejected     bool // the seller rejected the code that ended the turn, once it was over
	JoinedDevice bool // another device was let into this place

	Entered string // the message whose code the seller has entered, where the request names one

	Reach      string // how the portal can reach the seller, in words; "" = it can not
	WantsReach bool   // the seller chose to be sent a message

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
	Unreadable bool   // the server cannot open it: its text is words of the page
}

// ErrorView is the page that is shown instead of the requested one.
type ErrorView struct {
	Lang        string
	Languages   []string // that the page may be read in; all where there are none
	AssetPrefix string

	// Code is the contract's code (unknown_room, store_unavailable, …). It picks the words; a code without
	// words of its own gets general ones.
	Code   string
	Detail string // shown instead of the code's words, where it is not empty
	Room   string // the room to go back to; empty where there is none
	Brand  Brand  // of that room

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
	case "store_unavailable", "too_many_requests", "room_full", "keys_unavailable", "internal", "draining",
		"overloaded", "too_many_places":
		return true
	}
	return false
}
