package templates

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/waitroom/waitroom/room/wire"
)

// pageData is the page's JSON block, from which the modules start.
type pageData struct {
	Room         string            `json:"room"`
	Lang         string            `json:"lang"`
	LeaseSeconds int               `json:"lease_seconds"`
	ClaimSeconds int               `json:"claim_seconds"`
	AwaySeconds  int               `json:"away_seconds"`
	DropSeconds  int               `json:"drop_seconds"`
	Joined       int               `json:"joined"`
	Spread       float64           `json:"spread"`           // seconds
	Hold         float64           `json:"hold,omitempty"`   // seconds, by the room's history
	Holds        int               `json:"holds,omitempty"`  // see RoomView
	Seller       string            `json:"seller,omitempty"` // the seller of the page, where that is proven
	Session      string            `json:"session,omitempty"`
	State        frame             `json:"state"`
	SMS          []smsFrame        `json:"sms"`
	Offers       []offerFrame      `json:"offers"`
	Rejected     bool              `json:"rejected"`
	JoinedDevice bool              `json:"joined_device"`
	PushKey      string            `json:"push_key,omitempty"`
	Plain        string            `json:"plain,omitempty"` // path of web's plainCookie; "" = not set
	Markets      []MarketplaceInfo `json:"markets,omitempty"`
	Icons        iconsByState      `json:"icons"`
	Words        LiveText          `json:"words"`
}

// frame is the view in the form of the contract's state frame, so that the modules read every state in the
// same way.
type frame struct {
	Type           string       `json:"type"`
	Room           string       `json:"room"`
	Epoch          string       `json:"epoch"`
	Version        int64        `json:"version"`
	ServerTime     int64        `json:"server_time"`
	Status         string       `json:"status"`
	Outcome        *string      `json:"outcome"`
	Ticket         *int64       `json:"ticket"`
	QueuePosition  *int         `json:"queue_position"`
	QueueLength    int          `json:"queue_length"`
	EstimatedWait  *int         `json:"estimated_wait"`
	MaximumWait    *int         `json:"maximum_wait"`
	LeaseExpiresAt *int64       `json:"lease_expires_at"`
	OpensAt        *int64       `json:"opens_at"`
	Notice         *wire.Notice `json:"notice"`
	Fence          *int64       `json:"fence"`
	wire.Public
	ClaimBy *int64 `json:"claim_by"`
	wire.Marks
	Codes *codes `json:"codes"`
}

type codes struct {
	Asked    int    `json:"asked"`
	Open     int    `json:"open"`
	AskAfter *int64 `json:"ask_after"`
}

type smsFrame struct {
	Type       string `json:"type"`
	MessageID  string `json:"message_id"`
	Text       string `json:"text"`
	Code       string `json:"code"`
	ReceivedAt int64  `json:"received_at"`
	Late       bool   `json:"late"`
	Fence      *int64 `json:"fence"` // the contract's frame has none
	Unreadable bool   `json:"unreadable,omitempty"`
}

type offerFrame struct {
	Type       string `json:"type"`
	MessageID  string `json:"message_id"`
	ReceivedAt int64  `json:"received_at"`
}

type iconsByState struct {
	Waiting string `json:"waiting"`
	Turn    string `json:"turn"`
}

func (v RoomView) data() pageData {
	messages := make([]smsFrame, 0, len(v.SMS))
	for _, m := range v.SMS {
		messages = append(messages, smsFrame{"sms", m.MessageID, m.Text, m.Code, m.ReceivedAt, m.Late,
			present(m.Fence), m.Unreadable})
	}
	offers := make([]offerFrame, 0, len(v.Offers))
	for _, o := range v.Offers {
		offers = append(offers, offerFrame{"sms_unclaimed", o.MessageID, o.ReceivedAt})
	}
	plain := ""
	if v.Plain {
		plain = string(v.path(""))
	}
	return pageData{
		Plain: plain, Room: v.Room, Lang: v.text().Page.Lang, LeaseSeconds: v.LeaseSeconds,
		ClaimSeconds: v.ClaimSeconds,
		AwaySeconds:  v.AwaySeconds, DropSeconds: v.DropSeconds,
		Joined: v.JoinedPosition, Spread: v.SpreadSeconds, Hold: v.HoldSeconds, Holds: v.Holds,
		Seller: v.provenSeller(), Session: v.Session, State: v.frame(), SMS: messages, Offers: offers,
		Rejected: v.Rejected, JoinedDevice: v.JoinedDevice, PushKey: v.PushKey, Words: v.live(),
		Markets: v.Info.Marketplaces,
		Icons:   iconsByState{v.AssetPrefix + "/icons/waiting.svg", v.AssetPrefix + "/icons/turn.svg"},
	}
}

func (v RoomView) provenSeller() string {
	if v.SellerFixed {
		return v.SellerID
	}
	return ""
}

func (v RoomView) frame() frame {
	return frame{
		Type: "state", Room: v.Room, Epoch: v.Epoch, Version: v.Version, ServerTime: v.ServerTime, Status: v.State,
		Outcome: present(v.Outcome), Ticket: present(v.Ticket), QueuePosition: present(v.QueuePosition),
		QueueLength: v.QueueLength, EstimatedWait: v.EstimatedWait, MaximumWait: v.MaximumWait,
		LeaseExpiresAt: present(v.LeaseExpiresAt), OpensAt: present(v.OpensAt), Notice: v.Notice,
		Fence: present(v.Fence), Public: v.Public, ClaimBy: present(v.ClaimBy), Marks: v.Marks, Codes: v.codes(),
	}
}

func (v RoomView) codes() *codes {
	if v.Codes == nil {
		return nil
	}
	return &codes{v.Codes.Asked, v.Codes.Open, present(v.Codes.AskAfter)}
}

// present returns nil for the zero value, which the views use for "does not apply".
func present[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

func (v RoomView) text() Text { return textIn(v.Lang, v.Info.Brand) }

// shows reports whether a part that belongs to the given states, in words with spaces between, is visible.
func (v RoomView) shows(states string) bool {
	return slices.Contains(strings.Fields(states), v.State)
}

// asking reports whether a question is open and has a subject.
func (v RoomView) asking(question string) bool {
	if v.Ask != question {
		return false
	}
	switch question {
	case QuestionLeave:
		return v.shows("waiting locked")
	case QuestionDone:
		return v.early()
	case QuestionReject:
		return v.main().Text != "" && v.shows("locked ended")
	}
	return false
}

func (v RoomView) askingAny() bool {
	return v.asking(QuestionLeave) || v.asking(QuestionDone) || v.asking(QuestionReject)
}

func (v RoomView) next() bool {
	return v.State == StateWaiting && v.QueuePosition == 1
}

func (v RoomView) left() int64 {
	if v.LeaseExpiresAt == 0 {
		return 0
	}
	return max(v.LeaseExpiresAt-v.ServerTime, 0)
}

// refresh returns after how many seconds a browser without JavaScript reloads. It returns 0 while a question
// is open, which a refresh would only interrupt. In the ended state the page reloads once, when there is a
// message to forget.
func (v RoomView) refresh() int {
	if v.askingAny() {
		return 0
	}
	if !v.shows("waiting locked") {
		return v.forgetIn()
	}
	if v.RefreshSeconds > 0 {
		return v.RefreshSeconds
	}
	return 5
}

// kept is how long a message is shown, in milliseconds.
const kept = 600_000

// forgetIn returns in how many seconds the first message has to disappear; 0 = there is none.
func (v RoomView) forgetIn() int {
	shown := v.current()
	if len(shown) == 0 {
		return 0
	}
	return int(max(shown[0].ReceivedAt+kept-v.ServerTime, 0)/1000) + 1
}

func (v RoomView) path(rest string) templ.SafeURL {
	return templ.SafeURL("/rooms/" + url.PathEscape(v.Room) + rest)
}

// held reports whether the lock is held. A frame of the idle state may lack the lease's end, but only a held
// lock or a line makes a newcomer wait.
func (v RoomView) held() bool {
	return v.LeaseExpiresAt > 0 || (v.MaximumWait != nil && *v.MaximumWait > 0)
}

func (v RoomView) holderLeft() string {
	if v.left() == 0 {
		return v.holderOver()
	}
	return Clock(v.left())
}

// holderOver returns the words for a holder without time left: a paused line hands on to no seller.
func (v RoomView) holderOver() string {
	if v.Paused {
		return "–"
	}
	return v.text().Live.HandingOff
}

// ending returns the notice of how the place ended. For a completed place with a code it first says what the
// code is for: the seller still has to type it in, until the seller has said that it is done.
func (v RoomView) ending() Notice {
	t := v.live()
	code := v.main().Code != ""
	switch {
	case v.Rejected && !code:
		return t.CodeRejected
	case v.toEnter() && (v.Rejected || !v.main().Late):
		return t.CodeArrived
	}
	words := v.ended()
	if code && v.Outcome != "completed" {
		words.Lead = t.TryCode
	}
	return words
}

// ended returns the notice of the outcome, whether or not messages have arrived.
func (v RoomView) ended() Notice {
	t := v.live()
	switch {
	case v.Outcome == "cancelled" && v.Fence != 0:
		return t.TurnGivenUp
	// the place ended after a missed turn; only the browser remembers more
	case v.Outcome == "dropped" && v.Fence != 0:
		return t.DropMissed
	default:
		return notice(t.Outcomes, v.Outcome)
	}
}

// gone reports whether the turn's code was rejected, and none has come since.
func (v RoomView) gone() bool { return v.Rejected && v.main().Code == "" }

func (v RoomView) title() string {
	t := v.text()
	switch {
	case v.over():
		return t.Live.Turn["over"].Title + " · " + t.Live.Brand
	case v.State == StateLocked:
		return fill(t.Live.TitleTurn, "clock", Clock(v.turnLeft()))
	case v.missed():
		return t.Live.TitleMissed
	case v.next():
		return t.Live.NotifyNext.Title + " · " + t.Live.Brand
	case v.State == StateWaiting:
		return fill(t.Live.TitleWaiting, "n", v.QueuePosition) + " · " + t.Live.Brand
	case v.State == StateEnded:
		return v.ending().Title + " · " + t.Live.Brand
	default:
		return t.Live.Brand
	}
}

// offlineWords explain how a page without a script is refreshed. Before the first form they promise nothing:
// a browser with scripts, where the page's own did not arrive, does not refresh it.
func (v RoomView) offlineWords() string {
	if !v.Plain || v.refresh() == 0 || !v.shows("waiting locked") {
		return v.text().Live.Connection["off"]
	}
	return fill(v.text().Page.RefreshNote, "n", v.refresh())
}

func (v ErrorView) words() Notice {
	words := notice(TextIn(v.Lang).Page.Errors, v.Code)
	if v.Detail != "" {
		words.Lead = v.Detail
	} else if v.DropSeconds > 0 && v.mayHaveAPlace() {
		words.Lead = sentences(words.Lead,
			fill(TextIn(v.Lang).Page.KeptFor, "drop", SpanWords(v.Lang, v.DropSeconds)))
	}
	return words
}

// mayHaveAPlace reports whether a reader in line could see this page.
func (v ErrorView) mayHaveAPlace() bool {
	switch v.Code {
	case "store_unavailable", "internal", "draining", "overloaded", "keys_unavailable", "not_identified",
		"token_expired", "token_used":
		return true
	}
	return false
}

func (v ErrorView) renewal() renewal { return renewal{seconds: v.Again, to: v.AgainAt} }

// korea is the zone of the rooms' sellers until a script knows a better one.
var korea = time.FixedZone("KST", 9*60*60)

func timeOfDay(milliseconds int64) string {
	return time.UnixMilli(milliseconds).In(korea).Format("15:04:05")
}

func timestamp(milliseconds int64) string {
	return time.UnixMilli(milliseconds).UTC().Format("2006-01-02T15:04:05.000Z")
}

// around returns the text before and after a placeholder whose value has an element of its own.
func around(pattern, placeholder string) (before, after string) {
	before, after, _ = strings.Cut(pattern, placeholder)
	return strings.TrimSpace(before), strings.TrimSpace(after)
}

func boolWord(b bool) string { return strconv.FormatBool(b) }

func number(n int) string { return strconv.Itoa(n) }

// fenceWord returns "" for a seller who does not hold the lock, since the server checks every fence that a
// form sends.
func fenceWord(fence int64) string {
	if fence == 0 {
		return ""
	}
	return strconv.FormatInt(fence, 10)
}
