package web

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// reachBody is a seller's choice. Other fields are ignored.
type reachBody struct {
	Session string `json:"session_id"`
	Wants   *bool  `json:"wants"`
}

type reachAnswer struct {
	Status string `json:"status"`
	Wants  bool   `json:"wants"`
}

// chooseReach is POST /api/{room}/lock/reach: whether the portal sends the seller a message when the turn is
// near.
func (s *site) chooseReach(c *gin.Context) {
	wants, err := s.reachOf(c)
	if err != nil {
		s.Fail(c, err)
		return
	}
	s.JSON(c, http.StatusOK, reachAnswer{"chosen", wants})
}

func (s *site) reachOf(c *gin.Context) (wants bool, err error) {
	if !request.IsJSON(c) {
		return false, problem.Refusal("unsupported_media_type")
	}
	text, err := request.Body(c)
	if err != nil {
		return false, err
	}
	body, err := request.Decode[reachBody](text)
	if err != nil || body == nil || body.Wants == nil {
		return false, problem.Refusal("invalid_json")
	}
	if _, err := s.sessionOf(c, body.Session); err != nil {
		return false, err
	}
	return *body.Wants, s.choose(c, *body.Wants)
}

// reachForm is chooseReach without a script.
func (s *site) reachForm(c *gin.Context) {
	if !s.ReadForm(c) {
		return
	}
	wants, err := strconv.ParseBool(c.PostForm("wants"))
	if err == nil {
		if _, err = s.visitor(c); err == nil {
			err = s.choose(c, wants)
		}
		if err != nil {
			s.notice(c, problem.CodeOf(err), "")
		}
	}
	s.back(c, "")
}

// choose records the choice of the request's seller, who may be near already.
func (s *site) choose(c *gin.Context, wants bool) error {
	p, ok := proofOf(c)
	if !ok {
		return identity.ErrNotIdentified
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	if err := s.Reach.Choose(ctx, p.Seller, wants); err != nil {
		return err
	}
	s.Chosen(request.Room(c))
	return nil
}

// addReach adds the choice to the page, where the portal gave a way to reach the seller.
func (s *site) addReach(c *gin.Context, v *templates.RoomView) {
	p, ok := proofOf(c)
	if s.Reach == nil || !ok || p.Reach == "" {
		return
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	wants, err := s.Reach.Chosen(ctx, p.Seller)
	if err == nil {
		v.Reach, v.WantsReach = p.Reach, wants
	}
}
