package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
)

// lockAPI is a seller's way to the lock: join, wait, ask for a code, leave, and the socket.
type lockAPI struct {
	*sessions
	open    *openSockets
	limited *refusals
	waiting waitingCalls
	deaf    deaf
}

func (h *lockAPI) routes(g *gin.RouterGroup) {
	g.POST("/lock", h.join)
	g.DELETE("/lock", h.leave)
	g.POST("/lock/expect", h.expect)
	g.POST("/lock/reject", h.reject)
	g.POST("/lock/claim", h.claim)
	g.GET("/lock/status", h.status)
	g.GET("/lock/messages", h.messages)
	g.GET("/ws", h.socket)
}

// join is POST /api/{room}/lock, the page's button 준비 완료 ("ready"). With here=true a waiter counts as
// present for AWAY_AFTER, for programs without a socket.
func (h *lockAPI) join(c *gin.Context) {
	body, err := readLock(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	session, err := h.sessionOf(c, body.Session)
	if err != nil {
		h.Fail(c, err)
		return
	}
	session, standing, err := h.enter(c, session, body.Seller, body.Asks, !mayWait(c))
	if errors.Is(err, room.ErrRoomClosed) {
		h.closed(c, standing.View)
		return
	}
	if here, _ := strconv.ParseBool(c.Query("here")); here && err == nil && standing.Status == room.Waiting {
		err = h.markHere(c, request.Room(c), session)
	}
	if err != nil {
		h.Fail(c, err)
		return
	}
	h.answerStanding(c, session, standing)
}

// closed answers room_closed, with the time when the room opens.
func (h *lockAPI) closed(c *gin.Context, v room.View) {
	at := max(h.opensAt(request.Room(c), v), v.Now) // it may have opened meanwhile
	wait := max(room.Seconds(time.Duration(at-v.Now)*time.Millisecond), 1)
	c.Header("Retry-After", strconv.FormatInt(wait, 10))
	h.Write(c, "room_closed", problem.For("room_closed"), reply.Times{OpensAt: new(reply.Instant(at))})
}

// answerStanding answers a live place: 200 to the holder, 202 to a seller in line.
func (h *lockAPI) answerStanding(c *gin.Context, session string, standing room.Standing) {
	status := http.StatusAccepted
	if standing.Status == room.Locked {
		status = http.StatusOK
	}
	h.JSON(c, status, standingAnswer(request.Room(c), h.publicSession(c, session), standing.View, standing.Place,
		standing.LeaseLength))
}

// enter joins the session, or a new one without one, and sets its cookie. If the engine refuses the join, the
// standing has the room.
func (h *lockAPI) enter(c *gin.Context, session, sellerID string, asks, noWait bool) (string, room.Standing,
	error) {
	known := session != ""
	seller, err := h.sellerOf(c, sellerID)
	if known && errors.Is(err, room.ErrInvalidSeller) {
		standing, err := h.reenter(c, session, noWait, err)
		return session, standing, err
	}
	if err != nil {
		return "", room.Standing{}, err
	}
	if !known {
		session = room.NewSession()
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	if known {
		standing, ok, err := h.enterLinked(ctx, c, session, noWait)
		if ok || err != nil {
			return session, standing, err
		}
	}
	standing, err := h.admitted(ctx, c, session, known, func() (room.Standing, error) {
		return h.Engine.Join(ctx, request.Room(c), room.JoinRequest{Request: uuid.NewString(), Session: session,
			Seller: seller, NoWait: noWait, Asks: asks, Address: h.addressMark(c)})
	})
	if errors.Is(err, room.ErrSellerHasPlace) && h.JoinRefused != nil {
		h.JoinRefused(request.Room(c), seller, standing.OtherTicket, standing.Now)
	}
	if err != nil {
		return "", standing, err
	}
	h.remember(c, h.publicSession(c, session))
	return session, standing, nil
}

// reenter joins a session that names no seller: it gets the place that it has, or is refused.
func (h *lockAPI) reenter(c *gin.Context, session string, noWait bool, refusal error) (room.Standing, error) {
	ctx, cancel := h.Asking(c)
	defer cancel()
	standing, ok, err := h.enterLinked(ctx, c, session, noWait)
	if ok || err != nil {
		return standing, err
	}
	_, seats, err := h.Engine.Look(ctx, request.Room(c), session)
	if err != nil {
		return room.Standing{}, err
	}
	if !seats[0].Live() {
		return room.Standing{}, refusal
	}
	standing, err = h.Engine.Join(ctx, request.Room(c),
		room.JoinRequest{Request: uuid.NewString(), Session: session, Ticket: seats[0].Ticket, NoWait: noWait})
	if errors.Is(err, room.ErrNoPlace) {
		err = refusal
	}
	if err != nil {
		return room.Standing{}, err
	}
	h.remember(c, h.publicSession(c, session))
	return standing, nil
}

// mayWait reports whether the request may wait: any spelling of ?wait=false forbids it.
func mayWait(c *gin.Context) bool {
	wait, err := strconv.ParseBool(c.Query("wait"))
	return err != nil || wait
}

// leave is DELETE /api/{room}/lock: completed, or given up.
func (h *lockAPI) leave(c *gin.Context) {
	body, err := readOptionalLock(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	session, err := h.sessionOf(c, body.Session)
	if err != nil {
		h.Fail(c, err)
		return
	}
	reason, fence, err := leaving(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	standing, err := h.exit(c, session, reason, fence)
	if err != nil {
		h.Fail(c, err)
		return
	}
	status := "left"
	if standing.Fence != 0 {
		status = "released"
	}
	h.JSON(c, http.StatusOK, leftAnswer{Status: status, Outcome: standing.Outcome, Room: request.Room(c),
		Session: h.publicSession(c, session),
		Ticket:  standing.Ticket, Fence: standing.Fence, Already: standing.Already, Epoch: standing.Epoch,
		Version: standing.Version})
}

// leaving reads ?reason= and ?fence=. A fence that is present must be valid: an empty one would end any live
// lease, which fences exist to prevent.
func leaving(c *gin.Context) (reason room.Outcome, fence int64, err error) {
	given, ok := c.GetQuery("reason")
	if !ok {
		given = string(room.Cancelled)
	}
	if reason, err = parseReason(given); err != nil {
		return "", 0, err
	}
	if given, ok = c.GetQuery("fence"); ok {
		fence, err = parseFence(given)
	}
	return reason, fence, err
}

func parseReason(text string) (room.Outcome, error) {
	if reason := room.Outcome(text); reason == room.Completed || reason == room.Cancelled {
		return reason, nil
	}
	return "", problem.Refusal("invalid_reason")
}

func parseFence(text string) (int64, error) {
	fence, err := strconv.ParseInt(text, 10, 64)
	if err != nil || fence <= 0 {
		return 0, problem.Refusal("invalid_fence")
	}
	return fence, nil
}

func (h *lockAPI) exit(c *gin.Context, session string, reason room.Outcome,
	fence int64) (room.Standing, error) {
	if session == "" {
		return room.Standing{}, room.ErrNoPlace
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	var standing room.Standing
	err := h.inPlace(ctx, c, session, func(session string, ticket int64) (err error) {
		standing, err = h.Engine.Leave(ctx, request.Room(c),
			room.LeaveRequest{Request: uuid.NewString(), Session: session,
				Outcome: reason, Fence: fence, Ticket: ticket})
		return err
	})
	if err == nil && !standing.Already {
		h.Quota.Left(request.Network(h.proxies.Client(c)))
	}
	return standing, err
}
