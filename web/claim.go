package web

import (
	"encoding/json"
	"errors"

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

// claim is POST /api/{room}/lock/claim: 저 여기 있어요.
func (s *site) claim(c *gin.Context) {
	body, err := readClaim(c)
	if err != nil {
		s.Fail(c, err)
		return
	}
	session, err := s.sessionOf(c, body.Session)
	if err != nil {
		s.Fail(c, err)
		return
	}
	fence := int64(0)
	if body.Fence != nil {
		fence = *body.Fence
	}
	standing, err := s.claiming(c, session, fence)
	if err != nil {
		s.Fail(c, err)
		return
	}
	s.answerStanding(c, session, standing)
}

// claiming confirms that a session is present. Fence 0 stands for any lease it holds, or none.
func (s *site) claiming(c *gin.Context, session string, fence int64) (room.Standing, error) {
	if session == "" {
		return room.Standing{}, room.ErrNoPlace
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	var standing room.Standing
	err := s.inPlace(ctx, c, session, func(session string, ticket int64) (err error) {
		standing, err = s.Engine.ClaimTurn(ctx, request.Room(c),
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

// parseClaim accepts exactly one JSON object. A field of the wrong type has its own error code.
func parseClaim(text []byte) (claimBody, error) {
	body, err := request.Decode[claimBody](text)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		switch wrong.Field {
		case "session_id":
			return claimBody{}, problem.Refusal("invalid_session")
		case "fence":
			return claimBody{}, problem.Refusal("invalid_fence")
		}
	}
	if err != nil || body == nil {
		return claimBody{}, problem.Refusal("invalid_json")
	}
	if body.Fence != nil && *body.Fence <= 0 {
		return claimBody{}, problem.Refusal("invalid_fence")
	}
	return *body, nil
}

// claimForm is 저 여기 있어요 without a script. The field fence is empty for a seller in line.
func (s *site) claimForm(c *gin.Context) {
	if !s.ReadForm(c) {
		return
	}
	session, err := s.visitor(c)
	var fence int64
	if given := c.PostForm("fence"); err == nil && given != "" {
		fence, err = parseFence(given)
	}
	if err == nil {
		_, err = s.claiming(c, session, fence)
	}
	if err != nil {
		s.notice(c, problem.CodeOf(err), "")
	}
	s.back(c, "")
}
