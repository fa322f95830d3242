package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/quota"
	"github.com/waitroom/waitroom/web/signin"
)

// Refusal is a code of the problem table as an error, for those who refuse a request elsewhere.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// problem is what is said about a code.
type problem struct {
	status int
	title  string
	ko, en string // what to do now
	retry  int    // seconds; 0 = no Retry-After
}

// problems is the one table of everything that can be wrong with a request.
var problems = map[string]problem{
	"invalid_json": {http.StatusBadRequest, "Body is not one JSON object",
		"본문에 JSON 객체 하나를 보내 주세요. 예: {\"seller_id\":\"s-1\"}", "Send one JSON object as the body, such as {\"seller_id\":\"s-1\"}.", 0},
	"invalid_seller": {http.StatusBadRequest, "Seller id is not valid",
		"판매자 ID를 확인해 주세요. 글자, 숫자와 _ . @ - 를 64자까지 쓸 수 있어요.", "Check seller_id: 1 to 64 letters, digits and _ . @ - are allowed.", 0},
	"invalid_session": {http.StatusBadRequest, "Session id is not valid",
		"세션 ID는 36자로 쓴 UUID여야 해요. 없으면 빼고 보내 주세요. 새로 만들어 드려요.", "Give the session id as a UUID of 36 characters, or leave it out to be given a new one.", 0},
	"invalid_reason": {http.StatusBadRequest, "Reason is not valid",
		"reason은 completed 또는 cancelled 중 하나예요.", "Use reason=completed or reason=cancelled.", 0},
	"invalid_fence": {http.StatusBadRequest, "Fence is not valid",
		"fence는 잠금을 받을 때 함께 받은 양의 정수예요. 줄에서 나갈 때만 뺄 수 있어요.", "Give the positive integer that came with the lock; only leaving goes without.", 0},
	"invalid_message": {http.StatusBadRequest, "Message is not valid",
		"message_id, from, text, sent_at을 확인해 주세요.", "Check message_id, from, text and sent_at.", 0},
	"invalid_expect": {http.StatusBadRequest, "What is expected is not valid",
		"from은 10개까지, from의 번호와 contains, Idempotency-Key는 64자까지 쓸 수 있어요.", "Give at most 10 senders in from. Each of them, contains and Idempotency-Key may have 64 characters.", 0},
	"bad_signature": {http.StatusUnauthorized, "Signature does not match",
		"서명과 서명 시각을 확인해 주세요. 시각은 5분 안이어야 해요.", "Check the signature and its timestamp, which must be within 5 minutes.", 0},
	"cross_site": {http.StatusForbidden, "Request comes from another site",
		"다른 사이트에서 온 요청이라 받지 않았어요. 대기실에서 직접 눌러 주세요.", "This came from another site. Use the waiting room itself, or have that site's origin allowed.", 0},
	"not_found": {http.StatusNotFound, "There is nothing here",
		"주소를 다시 확인해 주세요.", "Check the address.", 0},
	"unknown_room": {http.StatusNotFound, "There is no such room",
		"이런 대기실은 없어요. 주소를 다시 확인해 주세요.", "There is no such room. Check its name in the address.", 0},
	"no_place": {http.StatusNotFound, "Session has no place in this room",
		"이 세션은 줄을 서 있지 않아요. 이미 끝났거나 아직 서지 않았어요.", "This session neither holds the lock nor waits: its place has ended, or it never joined.", 0},
	"no_message": {http.StatusNotFound, "There is no such message for this session",
		"그런 문자가 없어요. 이미 지웠거나 볼 수 있는 시간이 지났어요.", "There is no such message for this session: it was rejected, its time is over, or it is another's.", 0},
	"method_not_allowed": {http.StatusMethodNotAllowed, "Method is not allowed here",
		"이 주소에서 쓸 수 있는 방법은 Allow 헤더에 있어요.", "Use one of the methods in the Allow header.", 0},
	"lock_held": {http.StatusConflict, "Lock is held",
		"다른 분이 인증 중이에요. 줄을 서려면 wait=false 없이 보내 주세요.", "Somebody holds the lock. Ask without wait=false to stand in line.", 0},
	"room_paused": {http.StatusConflict, "Room is paused",
		"지금은 잠시 멈췄어요. 줄을 서려면 wait=false 없이 보내 주세요.", "Support has paused the room. Ask without wait=false to stand in line.", 0},
	"seller_has_place": {http.StatusConflict, "Seller has a place already",
		"이 판매자는 이미 줄을 서 있어요. 줄을 선 브라우저에서 이어가 주세요.", "This seller has a place under another session. Carry on in the browser that joined.", 0},
	"stale_fence": {http.StatusConflict, "Fence is not the current lease's",
		"그 차례는 이미 끝났거나 아직 받지 않았어요. 지금 상태를 다시 확인해 주세요.", "That lease is over, or was never this session's. Ask for the status and go by what it says.", 0},
	"number_busy": {http.StatusConflict, "A code that another lease asked for may still come",
		"앞 사람이 요청한 문자가 아직 올 수 있어요. 조금 뒤 다시 눌러 주세요. 기다리는 만큼 시간을 더 드려요.",
		"Wait as long as Retry-After says, then ask again. The lease is put off once by what it has to wait.", 0},
	"too_many_asks": {http.StatusConflict, "Lease has asked too often",
		"이번 차례에는 더 요청할 수 없어요. 취소하고 다시 줄을 서 주세요.", "A lease may ask 10 times. End it and join again to ask more.", 0},
	"too_many_rejects": {http.StatusConflict, "Lease has rejected too many messages",
		"이번 차례에는 문자를 더 지울 수 없어요. 고객센터에 알려 주세요.", "A lease may reject 3 messages. Tell support about this one.", 0},
	"wrong_host": {http.StatusMisdirectedRequest, "Server is not called that",
		"이 주소로는 대기실을 열 수 없어요. 안내받은 주소로 다시 열어 주세요. (서버 설정: WAITROOM_PUBLIC_URL)",
		"This server does not answer to that host. Use the address it is known by, or set WAITROOM_PUBLIC_URL to this one.", 0},
	"body_too_large": {http.StatusRequestEntityTooLarge, "Body is too large",
		"본문은 16 KiB까지 보낼 수 있어요.", "Send at most 16 KiB.", 0},
	"unsupported_media_type": {http.StatusUnsupportedMediaType, "Body is not sent as JSON",
		"Content-Type: application/json으로 보내 주세요.", "Send the body with Content-Type: application/json.", 0},
	"upgrade_required": {http.StatusUpgradeRequired, "This is a WebSocket",
		"이 주소에는 WebSocket으로 연결해 주세요.", "Connect here with a WebSocket.", 0},
	"too_many_requests": {http.StatusTooManyRequests, "Too many requests",
		"요청이 한꺼번에 몰렸어요. 잠시 뒤 다시 눌러 주세요.", "Wait as long as Retry-After says, then ask again.", 1},
	"room_full": {http.StatusServiceUnavailable, "As many wait as may wait in this room",
		"지금은 줄이 가득 찼어요. 잠시 뒤 다시 눌러 주세요.", "The line is full. Ask again later.", 10},
	"internal": {http.StatusInternalServerError, "Something went wrong here",
		"저희 쪽에 문제가 생겼어요. 잠시 뒤 다시 눌러 주세요. 여러 번 눌러도 순서는 하나예요.", "This is our fault. Ask again; repeating a request never takes a second place.", 0},
	"store_unavailable": {http.StatusServiceUnavailable, "Store cannot be reached",
		"지금은 대기실에 닿지 않아요. 잠시 뒤 다시 눌러 주세요. 여러 번 눌러도 순서는 하나예요.", "Ask again in a moment with the same session: repeating a request never takes a second place.", 1},
	"draining": {http.StatusServiceUnavailable, "Server is shutting down",
		"서버가 바뀌는 중이에요. 곧 다시 연결해 주세요.", "This replica is shutting down. Connect again.", 1},
	"not_identified": {http.StatusUnauthorized, "No seller is proven",
		"누구인지 확인되지 않았어요. 판매자 포털에서 다시 들어와 주세요. 서 있던 줄은 그대로예요.",
		"Come again from the portal, or send its token as Authorization: Bearer. A place in the line stays.", 0},
	"invalid_token": {http.StatusUnauthorized, "Token is not valid",
		"들어오는 링크가 올바르지 않아요. 판매자 포털에서 다시 들어와 주세요.",
		"The token is not signed as agreed, or lacks sub, iat (in a link) or exp (as Bearer). Come again from the portal.", 0},
	"token_expired": {http.StatusUnauthorized, "Token is too old",
		"들어오는 링크는 1분 동안만 쓸 수 있어요. 판매자 포털에서 다시 들어와 주세요.",
		"A token in a link is good for 60 seconds, one sent as Bearer until its exp. Come again from the portal.", 0},
	"token_early": {http.StatusUnauthorized, "Token is of a time to come",
		"판매자 포털의 시계가 맞지 않아요. 잠시 뒤 포털에서 다시 들어와 주세요.",
		"The token's iat or nbf is more than 10 seconds ahead. Check the portal's clock, then come again from the portal.", 0},
	"token_used": {http.StatusUnauthorized, "Token was used before",
		"들어오는 링크는 한 번만 쓸 수 있어요. 판매자 포털에서 다시 들어와 주세요.",
		"A token in a link works once, and not as Bearer after that. Come again from the portal.", 0},
	"wrong_audience": {http.StatusUnauthorized, "Token is for somebody else",
		"이 대기실로 들어오는 링크가 아니에요. 판매자 포털에서 다시 들어와 주세요.",
		"The token's aud or room names neither this server nor this room. Come again from the portal.", 0},
	"keys_unavailable": {http.StatusServiceUnavailable, "Portal's keys cannot be fetched",
		"지금은 누구인지 확인할 수 없어요. 잠시 뒤 판매자 포털에서 다시 들어와 주세요.",
		"The portal's keys do not come, so its token can not be checked. Try again in a moment.", 5},
	"not_signed_in": {http.StatusUnauthorized, "Nobody is signed in",
		"고객센터 계정으로 로그인해 주세요.", "Sign in at /support/sign-in.", 0},
	"wrong_password": {http.StatusUnauthorized, "Name or password is wrong",
		"이름이나 비밀번호가 맞지 않아요.", "Check the name and the password.", 0},
	"sign_in_expired": {http.StatusUnauthorized, "Sign-in took too long, or was begun in another browser",
		"로그인이 너무 오래 걸렸거나 다른 브라우저에서 시작됐어요. 처음부터 다시 해 주세요.", "Begin the sign-in again, in this browser.", 0},
	"not_admitted": {http.StatusForbidden, "Account is in no group that may watch",
		"이 계정은 고객센터 화면을 볼 수 있는 그룹에 없어요. 관리자에게 알려 주세요.", "This account is in no group that may see the desk. Ask whoever runs it.", 0},
	"not_allowed": {http.StatusForbidden, "Role does not allow this",
		"이 계정은 보기만 할 수 있어요.", "This account may only watch.", 0},
	"invalid_ticket": {http.StatusBadRequest, "Ticket is not valid",
		"ticket은 줄에 보이는 양의 정수예요.", "Give the positive integer that the waiter is shown with.", 0},
	"invalid_seconds": {http.StatusBadRequest, "Seconds are not valid",
		"seconds는 1~120 사이의 정수예요.", "Give a whole number from 1 to 120.", 0},
	"invalid_position": {http.StatusBadRequest, "Position is not valid",
		"position은 1부터 시작하는 정수예요. 1이 바로 다음 차례예요.", "Give a whole number from 1, which is next.", 0},
	"invalid_key": {http.StatusBadRequest, "Idempotency-Key is not valid",
		"Idempotency-Key는 64자까지 쓸 수 있어요.", "Idempotency-Key may have 64 characters.", 0},
	"invalid_time": {http.StatusBadRequest, "Time is not valid",
		"from과 to는 2026-11-21T09:30:00+09:00처럼 시간대가 있는 RFC 3339, 2026-11-21 같은 날짜(UTC), 유닉스 시각(밀리초나 초) 중 하나예요.",
		"Give from and to in RFC 3339 with an offset, such as 2026-11-21T09:30:00+09:00, as a date (UTC) or as unix milliseconds or seconds.", 0},
	"invalid_limit": {http.StatusBadRequest, "Limit is not valid",
		"limit은 1 이상의 정수예요.", "Give a whole number from 1.", 0},
	"invalid_cursor": {http.StatusBadRequest, "Cursor is not valid",
		"cursor는 앞 쪽의 next 값이에요. 처음부터 다시 찾아 주세요.", "Give the next of the page before, or begin without one.", 0},
	"invalid_format": {http.StatusBadRequest, "Format is not valid",
		"format은 json 또는 csv예요.", "Use format=json or format=csv.", 0},
	"stale_ticket": {http.StatusConflict, "Ticket is not waiting",
		"그 번호는 이제 줄에 없어요. 아무것도 바뀌지 않았어요.", "That ticket is not in the line any more. Nothing was changed.", 0},
	"lease_too_long": {http.StatusConflict, "Lease would be too long",
		"한 차례는 모두 합해 10분까지만 늘릴 수 있어요.", "A lease may be 10 minutes long in all.", 0},
	"already_matched": {http.StatusConflict, "Message belongs to a lease already",
		"그 문자는 이미 다른 차례의 것이에요.", "That message belongs to a lease already.", 0},
	"not_possible": {http.StatusConflict, "Message can not be that lease's",
		"그 차례가 받았을 수 없는 문자예요. 그때 진행 중이었거나 그 전 10분 안에 요청한 차례에만 줄 수 있어요. 바뀐 것은 없어요.",
		"That lease could not have caused it: it was neither live when the message was sent, nor had it asked in the 10 minutes before. Nothing was changed.", 0},
	"not_dead": {http.StatusConflict, "Delivery was not given up",
		"이미 다시 보내고 있거나 보낸 알림이에요.", "That delivery is under way again, or done.", 0},
	"provider_unavailable": {http.StatusServiceUnavailable, "Provider of sign-ins cannot be reached",
		"로그인을 맡은 서비스에 닿지 않아요. 잠시 뒤 다시 해 주세요.", "The OpenID Connect provider does not answer. Try again in a moment.", 5},
	"ledger_unavailable": {http.StatusServiceUnavailable, "Ledger cannot be reached",
		"지금은 기록을 볼 수 없어요. 대기실은 그대로 움직여요. 잠시 뒤 다시 열어 주세요.", "The record can not be read now; the rooms go on. Ask again in a moment.", 5},
	"sms_not_configured": {http.StatusServiceUnavailable, "Inbound SMS is not configured",
		"문자 수신이 설정되어 있지 않아요. WAITROOM_SMS_WEBHOOK_SECRET을 설정해 주세요.", "Set WAITROOM_SMS_WEBHOOK_SECRET on the server.", 60},
}

func (p problem) detail(lang string) string {
	if lang == "en" {
		return p.en
	}
	return p.ko
}

// codes are the codes of what the engine and the SMS service refuse.
var codes = []struct {
	err  error
	code string
}{
	{room.ErrInvalidRoom, "unknown_room"},
	{room.ErrInvalidSeller, "invalid_seller"},
	{room.ErrInvalidSession, "invalid_session"},
	{room.ErrNoPlace, "no_place"},
	{room.ErrStaleFence, "stale_fence"},
	{room.ErrInvalidExpect, "invalid_expect"},
	{room.ErrNumberBusy, "number_busy"},
	{room.ErrTooManyAsks, "too_many_asks"},
	{room.ErrNoMessage, "no_message"},
	{room.ErrStaleTicket, "stale_ticket"},
	{room.ErrLeaseTooLong, "lease_too_long"},
	{room.ErrAlreadyMatched, "already_matched"},
	{room.ErrNotPossible, "not_possible"},
	{sms.ErrRefused, "not_possible"},
	{signin.ErrNotSignedIn, "not_signed_in"},
	{signin.ErrWrong, "wrong_password"},
	{signin.ErrNotAdmitted, "not_admitted"},
	{signin.ErrExpired, "sign_in_expired"},
	{signin.ErrAway, "provider_unavailable"},
	{identity.ErrNotIdentified, "not_identified"},
	{identity.ErrToken, "invalid_token"},
	{identity.ErrExpired, "token_expired"},
	{identity.ErrEarly, "token_early"},
	{identity.ErrUsed, "token_used"},
	{identity.ErrAudience, "wrong_audience"},
	{identity.ErrKeys, "keys_unavailable"},
	{room.ErrTooManyRejects, "too_many_rejects"},
	{room.ErrLockHeld, "lock_held"},
	{room.ErrPaused, "room_paused"},
	{room.ErrRoomFull, "room_full"},
	{room.ErrSellerHasPlace, "seller_has_place"},
	{sms.ErrSignature, "bad_signature"},
	{sms.ErrInvalidJSON, "invalid_json"},
	{sms.ErrInvalidMessage, "invalid_message"},
	{room.ErrStore, "store_unavailable"},
	{context.DeadlineExceeded, "store_unavailable"},
	{context.Canceled, "store_unavailable"},
}

// codeOf is the code of an error; what nobody thought of is internal.
func codeOf(err error) string {
	if refusal, ok := errors.AsType[Refusal](err); ok {
		return string(refusal)
	}
	if _, limited := errors.AsType[signin.Limited](err); limited {
		return "too_many_requests"
	}
	if _, limited := errors.AsType[quota.Limited](err); limited {
		return "too_many_requests"
	}
	for _, known := range codes {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return "internal"
}

// fail answers an error.
func (s *site) fail(c *gin.Context, err error) {
	code := codeOf(err)
	s.failed(c, code, err)
	if limit, ok := errors.AsType[quota.Limited](err); ok {
		s.refuseFor(c, limit)
		return
	}
	if errors.Is(err, sms.ErrRefused) {
		s.tell(c, code, problemOf(c, code).in(ledgerWords), nil)
		return
	}
	s.refuse(c, code)
}

// failed writes down what went wrong here.
func (s *site) failed(c *gin.Context, code string, err error) {
	switch {
	case problems[code].status < http.StatusInternalServerError || c.Request.Context().Err() != nil:
	case code == "room_full": // that is a limit: see limited
	case code == "store_unavailable":
		s.away.request(c.FullPath(), err)
	default:
		s.Log.Warn("request failed", "route", c.FullPath(), "code", code, "error", err)
	}
}

// refuse answers a code of the table: in JSON to a program, on a page to a person.
func (s *site) refuse(c *gin.Context, code string) {
	if _, ok := problems[code]; !ok {
		code = "internal"
	}
	s.tell(c, code, problemOf(c, code), nil)
}

// tell answers a problem; after is from when the holder may ask, where that is the problem.
func (s *site) tell(c *gin.Context, code string, p problem, after *instant) {
	c.Abort()
	header := c.Writer.Header()
	if p.retry > 0 && header.Get("Retry-After") == "" {
		header.Set("Retry-After", strconv.Itoa(p.retry))
	}
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "Accept, Accept-Language, Cookie")
	if wantsPage(c) {
		s.errorPage(c, code, p)
		return
	}
	writeProblem(c, code, p, after)
}

func writeProblem(c *gin.Context, code string, p problem, after *instant) {
	lang := apiLanguage(c.Request)
	body, err := json.Marshal(struct {
		Type     string   `json:"type"`
		Title    string   `json:"title"`
		Status   int      `json:"status"`
		Code     string   `json:"code"`
		Detail   string   `json:"detail"`
		AskAfter *instant `json:"ask_after,omitempty"`
	}{"urn:waitroom:problem:" + code, p.title, p.status, code, p.detail(lang), after})
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	c.Header("Content-Language", lang)
	c.Data(p.status, "application/problem+json", body)
}

func (s *site) nothingHere(c *gin.Context) { s.refuse(c, "not_found") }

func (s *site) notLikeThis(c *gin.Context) { s.refuse(c, "method_not_allowed") }
