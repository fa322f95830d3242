package web

import (
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// claimBody is the body of a claim. Other fields are ignored.
type claimBody struct {
	Session string `json:"session_id"`
	Fence   *int64 `json:"fence"`
}

// claim is POST /api/{room}/lock/claim, the page's button 저 여기 있어요 ("I am here").
func (h *lockAPI) claim(c *gin.Context) {
	body, err := readClaim(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	session, err := h.sessionOf(c, body.Session)
	if err != nil {
		h.Fail(c, err)
		return
	}
	fence := int64(0)
	if body.Fence != nil {
		fence = *body.Fence
	}
	standing, err := h.claiming(c, session, fence)
	if err != nil {
		h.Fail(c, err)
		return
	}
	h.answerStanding(c, session, standing)
}

// claiming confirms that a session is present. Fence 0 stands for any lease it holds, or none.
func (h *lockAPI) claiming(c *gin.Context, session string, fence int64) (room.Standing, error) {
	if session == "" {
		return room.Standing{}, room.ErrNoPlace
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	var standing room.Standing
	err := h.inPlace(ctx, c, session, func(session string, ticket int64) (err error) {
		standing, err = h.Engine.ClaimTurn(ctx, request.Room(c),
			room.ClaimRequest{Request: uuid.NewString(), Session: session, Fence: fence, Ticket: ticket})
		return err
	})
	return standing, err
}

// readClaim reads the body, which is optional: a seller back in line has no fence.
func readClaim(c *gin.Context) (claimBody, error) {
	text, err := request.Body(c)
	if err != nil || len(text) == 0 && c.GetHeader("Content-Type") == "" {
		return claimBody{}, err
	}
	if !request.IsJSON(c) {
		return claimBody{}, problem.Refusal("unsupported_media_type")
	}
	return parseClaim(text)
}

func parseClaim(text []byte) (claimBody, error) {
	body, err := parseBody[claimBody](text, nil)
	if err == nil && body.Fence != nil && *body.Fence <= 0 {
		return claimBody{}, problem.Refusal("invalid_fence")
	}
	return body, err
}
