package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
)

// expectBody is the body of a request about what the holder asks for. Other fields are ignored.
type expectBody struct {
	Session   string   `json:"session_id"`
	Fence     int64    `json:"fence"`
	From      []string `json:"from"`
	Contains  string   `json:"contains"`
	MessageID string   `json:"message_id"`
}

// expectAnswer is the answer to a holder that asks for a code.
type expectAnswer struct {
	Status    string        `json:"status"`
	Room      room.ID       `json:"room"`
	Session   string        `json:"session_id"`
	Ticket    int64         `json:"ticket"`
	Fence     int64         `json:"fence"`
	Asked     int           `json:"asked"`
	Open      int           `json:"open"`
	ExpiresAt reply.Instant `json:"expires_at"`
	Epoch     int64         `json:"epoch"`
	Version   int64         `json:"version"`
}

// expect is POST /api/{room}/lock/expect, the page's button 이제 요청할게요 ("I am asking for the code now").
func (h *lockAPI) expect(c *gin.Context) {
	body, session, err := h.readExpect(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	q := room.ExpectRequest{Session: session, Fence: body.Fence,
		Filter: room.Filter{From: body.From, Contains: body.Contains},
		Key:    c.GetHeader(request.KeyHeader), MessageID: body.MessageID}
	expected, err := h.expecting(c, q)
	if errors.Is(err, room.ErrNumberBusy) {
		h.busy(c, expected)
		return
	}
	if err != nil {
		h.Fail(c, err)
		return
	}
	h.JSON(c, http.StatusOK, expectAnswer{Status: "expecting", Room: request.Room(c),
		Session: h.publicSession(c, session), Ticket: expected.Ticket,
		Fence: expected.Fence, Asked: expected.Asked, Open: expected.Open,
		ExpiresAt: reply.Instant(expected.ExpiresAt),
		Epoch:     expected.Epoch, Version: expected.Version})
}

// reject is POST /api/{room}/lock/reject, the page's button 번호가 맞지 않아요 ("the code is wrong").
func (h *lockAPI) reject(c *gin.Context) {
	body, session, err := h.readExpect(c)
	if err == nil {
		err = h.rejecting(c, session, body.Fence, body.MessageID)
	}
	if err != nil {
		h.Fail(c, err)
		return
	}
	h.JSON(c, http.StatusOK, gin.H{"status": "rejected"})
}

// expecting asks the engine, or claims a message where one is named.
func (h *lockAPI) expecting(c *gin.Context, q room.ExpectRequest) (room.Expectation, error) {
	if err := checkExpect(q); err != nil {
		return room.Expectation{}, err
	}
	if q.Session == "" {
		return room.Expectation{}, room.ErrNoPlace
	}
	ask := h.Engine.Expect
	switch {
	case q.MessageID == "":
	case h.SMS == nil:
		return room.Expectation{}, room.ErrNoMessage
	default:
		ask = h.SMS.Claim
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	var expected room.Expectation
	// a fence belongs to one place
	err := h.inPlace(ctx, c, q.Session, func(session string, _ int64) (err error) {
		q.Session = session
		expected, err = ask(ctx, request.Room(c), q)
		return err
	})
	return expected, err
}

func (h *lockAPI) rejecting(c *gin.Context, session string, fence int64, messageID string) error {
	if session == "" || messageID == "" {
		return room.ErrNoMessage
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	err := h.inPlace(ctx, c, session, func(session string, _ int64) error {
		return h.Engine.Reject(ctx, request.Room(c), session, fence, messageID)
	})
	if err == nil {
		h.remembersReject(c, session, fence)
	}
	return err
}

// busy answers number_busy, with the time to ask again.
func (h *lockAPI) busy(c *gin.Context, expected room.Expectation) {
	wait := max(room.Seconds(time.Duration(expected.AskAfter-expected.Now)*time.Millisecond), 1)
	c.Header("Retry-After", strconv.FormatInt(wait, 10))
	h.Write(c, "number_busy", problem.For("number_busy"),
		reply.Times{AskAfter: new(reply.Instant(expected.AskAfter))})
}

// checkExpect validates a request. An empty sender is refused, as it would match every sender without digits.
func checkExpect(q room.ExpectRequest) error {
	if utf8.RuneCountInString(q.Key) > request.MaxKey {
		return room.ErrInvalidExpect
	}
	return q.Filter.Valid()
}

// readExpect reads the body and returns the caller's session.
func (h *lockAPI) readExpect(c *gin.Context) (expectBody, string, error) {
	text, err := readJSON(c)
	if err != nil {
		return expectBody{}, "", err
	}
	body, err := parseExpect(text)
	if err != nil {
		return expectBody{}, "", err
	}
	session, err := h.sessionOf(c, body.Session)
	return body, session, err
}

// parseExpect is parseBody for an ask, which names its fence.
func parseExpect(text []byte) (expectBody, error) {
	body, err := parseBody[expectBody](text, room.ErrInvalidExpect)
	if err == nil && body.Fence <= 0 {
		return expectBody{}, problem.Refusal("invalid_fence")
	}
	return body, err
}

// rejectedCookie marks the browser that rejected the code which ended its turn. Only the cookie records this:
// a rejection during a turn shows in the turn's own outcome.
const (
	rejectedCookie = "waitroom_rejected"
	rejectedKept   = 60 * 60
)

// remembersReject records that the code of an ended turn was rejected.
func (h *lockAPI) remembersReject(c *gin.Context, session string, fence int64) {
	if h.cookie(c) == "" {
		return
	}
	_, seat, err := h.look(c, request.Room(c), session)
	if err != nil || seat.Status != room.Ended || seat.Fence != fence {
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: rejectedCookie, Value: rejectedTurn(request.Room(c), fence),
		Path: "/", MaxAge: rejectedKept,
		HttpOnly: true, Secure: h.proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}

// addRejected shows on the page that the code of the last turn was rejected.
func (h *pages) addRejected(c *gin.Context, id room.ID, v *templates.RoomView) {
	cookie, err := c.Request.Cookie(rejectedCookie)
	v.Rejected = err == nil && v.State == templates.StateEnded && v.Fence != 0 &&
		cookie.Value == rejectedTurn(id, v.Fence)
}

func rejectedTurn(id room.ID, fence int64) string {
	return url.QueryEscape(string(id) + " " + strconv.FormatInt(fence, 10))
}
