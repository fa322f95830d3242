package web

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// smsAPI takes messages from carriers, phones and providers.
type smsAPI struct{ *base }

func (h *smsAPI) routes(g *gin.RouterGroup) {
	g.POST("/sms", h.message)
	g.POST("/sms/:source", h.messageFrom)
}

// message is POST /api/{room}/sms. It is signed, so it needs neither a session nor a content type.
func (h *smsAPI) message(c *gin.Context) {
	body, ok := h.readMessage(c)
	if !ok {
		return
	}
	if h.SMS == nil {
		h.Refuse(c, "sms_not_configured")
		return
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	result, err := h.SMS.Receive(ctx, request.Room(c), c.Request.Header, body)
	if err != nil {
		h.failMessage(c, err)
		return
	}
	h.spanMessage(c, result)
	h.JSON(c, http.StatusOK, result)
}

// noInstructions is TwiML that makes Twilio do nothing more.
const noInstructions = `<?xml version="1.0" encoding="UTF-8"?><Response/>`

// messageFrom is POST /api/{room}/sms/{source}: message, in the format of a phone or a provider.
func (h *smsAPI) messageFrom(c *gin.Context) {
	body, ok := h.readMessage(c)
	if !ok {
		return
	}
	if h.SMS == nil {
		h.Refuse(c, "unknown_source")
		return
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	result, err := h.SMS.ReceiveFrom(ctx, request.Room(c), c.Param("source"),
		sms.Request{URL: h.publicURL(c) + c.Request.URL.RequestURI(), Header: c.Request.Header, Body: body})
	switch {
	case errors.Is(err, sms.ErrIgnored):
		c.Status(http.StatusNoContent)
	case err != nil:
		h.failMessage(c, err)
	case c.GetHeader("X-Twilio-Signature") != "": // Twilio takes the answer as instructions
		h.spanMessage(c, result)
		c.Data(http.StatusOK, "text/xml; charset=utf-8", []byte(noInstructions))
	default:
		h.spanMessage(c, result)
		h.JSON(c, http.StatusOK, result)
	}
}

// readMessage reads the body of an SMS; ok is false once a refusal is answered.
func (h *smsAPI) readMessage(c *gin.Context) (body []byte, ok bool) {
	body, err := request.Body(c)
	if err == nil {
		return body, true
	}
	if code := problem.CodeOf(err); h.Refused != nil && code == sms.BodyTooLarge {
		h.Refused(request.Room(c), code)
	}
	h.Fail(c, err)
	return nil, false
}

// failMessage answers with the reason an SMS was refused.
func (h *smsAPI) failMessage(c *gin.Context, err error) {
	fault, ok := errors.AsType[*sms.Fault](err)
	if !ok {
		h.Fail(c, err)
		return
	}
	code := problem.CodeOf(err)
	p := problem.For(code)
	p.Words = func(lang string) templates.Problem {
		return templates.Problem{Title: problem.Words(lang).API[code].Title, Detail: fault.Detail(lang)}
	}
	h.Write(c, code, p, nil)
}

// spanMessage records on a request's span where its message belongs.
func (h *smsAPI) spanMessage(c *gin.Context, a sms.Answer) {
	if h.Tracer == nil {
		return
	}
	span := trace.SpanFromContext(c.Request.Context())
	span.SetAttributes(attribute.String("waitroom.sms.result", string(a.Result)))
	if a.Reason != "" {
		span.SetAttributes(attribute.String("waitroom.sms.reason", string(a.Reason)))
	}
}
