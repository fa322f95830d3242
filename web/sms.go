package web

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// message is POST /api/{room}/sms. It is signed, so it needs neither a session nor a content type.
func (s *site) message(c *gin.Context) {
	body, ok := s.readMessage(c)
	if !ok {
		return
	}
	if s.SMS == nil {
		s.Refuse(c, "sms_not_configured")
		return
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	result, err := s.SMS.Receive(ctx, request.Room(c), c.Request.Header, body)
	if err != nil {
		s.failMessage(c, err)
		return
	}
	s.spanMessage(c, result)
	s.JSON(c, http.StatusOK, result)
}

// noInstructions is TwiML that makes Twilio do nothing more.
const noInstructions = `<?xml version="1.0" encoding="UTF-8"?><Response/>`

// messageFrom is POST /api/{room}/sms/{source}: message, in the format of a phone or a provider.
func (s *site) messageFrom(c *gin.Context) {
	body, ok := s.readMessage(c)
	if !ok {
		return
	}
	if s.SMS == nil {
		s.Refuse(c, "unknown_source")
		return
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	result, err := s.SMS.ReceiveFrom(ctx, request.Room(c), c.Param("source"),
		sms.Request{URL: s.publicURL(c) + c.Request.URL.RequestURI(), Header: c.Request.Header, Body: body})
	switch {
	case errors.Is(err, sms.ErrIgnored):
		c.Status(http.StatusNoContent)
	case err != nil:
		s.failMessage(c, err)
	case c.GetHeader("X-Twilio-Signature") != "": // Twilio takes the answer as instructions
		s.spanMessage(c, result)
		c.Data(http.StatusOK, "text/xml; charset=utf-8", []byte(noInstructions))
	default:
		s.spanMessage(c, result)
		s.JSON(c, http.StatusOK, result)
	}
}

// readMessage reads the body of an SMS; ok is false once a refusal is answered.
func (s *site) readMessage(c *gin.Context) (body []byte, ok bool) {
	body, err := request.Body(c)
	if err == nil {
		return body, true
	}
	if code := problem.CodeOf(err); s.Refused != nil && code == sms.BodyTooLarge {
		s.Refused(request.Room(c), code)
	}
	s.Fail(c, err)
	return nil, false
}

// failMessage answers with the reason an SMS was refused.
func (s *site) failMessage(c *gin.Context, err error) {
	fault, ok := errors.AsType[*sms.Fault](err)
	if !ok {
		s.Fail(c, err)
		return
	}
	code := problem.CodeOf(err)
	p := problem.For(code)
	p.Words = func(lang string) templates.Problem {
		return templates.Problem{Title: problem.Words(lang).API[code].Title, Detail: fault.Detail(lang)}
	}
	s.Write(c, code, p, nil)
}
