package web

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/templates"
)

// message is POST /api/{room}/sms. It is signed, so it needs neither a session nor a content type.
func (s *site) message(c *gin.Context) {
	body, err := readBody(c)
	if err != nil {
		if code := codeOf(err); s.Refused != nil && code == sms.BodyTooLarge {
			s.Refused(roomOf(c), code)
		}
		s.fail(c, err)
		return
	}
	if s.SMS == nil {
		s.refuse(c, "sms_not_configured")
		return
	}
	ctx, cancel := s.asking(c)
	defer cancel()
	result, err := s.SMS.Receive(ctx, roomOf(c), c.Request.Header, body)
	if fault, ok := errors.AsType[*sms.Fault](err); ok {
		code := codeOf(err)
		p := problemFor(code)
		p.said = func(lang string) templates.Problem {
			return templates.Problem{Title: words(lang).API[code].Title, Detail: fault.Detail(lang)}
		}
		s.tell(c, code, p, nil)
		return
	}
	if err != nil {
		s.fail(c, err)
		return
	}
	s.spanMessage(c, result)
	s.answer(c, http.StatusOK, result)
}
