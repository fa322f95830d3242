package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
)

// smsAPI takes messages from carriers, phones and providers.
type smsAPI struct {
	*base
	large chan struct{} // has an element for each body of over request.MaxBody in memory
}

// A phone posts an MMS with its pictures, so a source may post more than others, if its signature is right.
// The memory for such bodies is bounded, since anybody can begin one.
const (
	mostOfSource = 2 << 20
	largeAtOnce  = 8
)

func newSMSAPI(b *base) *smsAPI { return &smsAPI{b, make(chan struct{}, largeAtOnce)} }

func (h *smsAPI) routes(all *gin.Engine, room *gin.RouterGroup) {
	room.POST("/sms", h.message)
	room.POST("/sms/:source", h.messageFrom)
	all.POST("/api/sms/:source", h.messageForAny)
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
	h.fromSource(c, func(ctx context.Context, r sms.Request) ([]sms.Answer, error) {
		return h.SMS.ReceiveFrom(ctx, request.Room(c), c.Param("source"), r)
	})
}

// messageForAny is POST /api/sms/{source}: messageFrom, for the room that has the message's number.
func (h *smsAPI) messageForAny(c *gin.Context) {
	h.fromSource(c, func(ctx context.Context, r sms.Request) ([]sms.Answer, error) {
		return h.SMS.ReceiveAny(ctx, c.Param("source"), r)
	})
}

// fromSource reads and answers a source's request. A large one without a right signature is body_too_large.
func (h *smsAPI) fromSource(c *gin.Context,
	receive func(context.Context, sms.Request) ([]sms.Answer, error)) {
	body, release, err := h.readSource(c)
	defer release()
	if err != nil {
		h.failBody(c, err)
		return
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	var answers []sms.Answer
	err = sms.ErrUnknownSource
	if h.SMS != nil {
		answers, err = receive(ctx, h.sourceRequest(c, body))
	}
	large := len(body) > request.MaxBody
	switch {
	case large && errors.Is(err, sms.ErrUnknownSource):
		h.failBody(c, problem.Refusal(sms.BodyTooLarge))
	case large && errors.Is(err, sms.ErrSignature): // which is counted
		h.Fail(c, problem.Refusal(sms.BodyTooLarge))
	default:
		h.answerSource(c, answers, err)
	}
}

// readSource reads the body of a source's request; release frees what a large one takes.
func (h *smsAPI) readSource(c *gin.Context) (body []byte, release func(), err error) {
	release = func() {}
	if c.Request.ContentLength >= 0 && c.Request.ContentLength <= request.MaxBody {
		body, err = request.Body(c)
		return body, release, err
	}
	select {
	case h.large <- struct{}{}:
		release = func() { <-h.large }
		body, err = request.BodyUpTo(c, mostOfSource)
	default:
		body, err = request.Body(c)
	}
	return body, release, err
}

func (h *smsAPI) sourceRequest(c *gin.Context, body []byte) sms.Request {
	return sms.Request{URL: h.publicURL(c) + c.Request.URL.RequestURI(), Header: c.Request.Header, Body: body}
}

// answerSource answers a source: with one answer, or a list where it sent several messages in one request.
func (h *smsAPI) answerSource(c *gin.Context, answers []sms.Answer, err error) {
	switch {
	case errors.Is(err, sms.ErrIgnored):
		c.Status(http.StatusNoContent)
		return
	case err != nil:
		h.failMessage(c, err)
		return
	}
	for _, answer := range answers {
		h.spanMessage(c, answer)
	}
	switch {
	case c.GetHeader("X-Twilio-Signature") != "": // Twilio takes the answer as instructions
		c.Data(http.StatusOK, "text/xml; charset=utf-8", []byte(noInstructions))
	case len(answers) == 1:
		h.JSON(c, http.StatusOK, answers[0])
	default:
		h.JSON(c, http.StatusOK, gin.H{"results": answers})
	}
}

// readMessage reads the body of an SMS; ok is false once a refusal is answered.
func (h *smsAPI) readMessage(c *gin.Context) (body []byte, ok bool) {
	body, err := request.Body(c)
	if err != nil {
		h.failBody(c, err)
	}
	return body, err == nil
}

func (h *smsAPI) failBody(c *gin.Context, err error) {
	if code := problem.CodeOf(err); code == sms.BodyTooLarge {
		h.refused(c, code)
	}
	h.Fail(c, err)
}

// failMessage answers with the reason an SMS was refused.
func (h *smsAPI) failMessage(c *gin.Context, err error) {
	if errors.Is(err, sms.ErrUnknownSource) {
		h.refused(c, "unknown_source")
	}
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
	h.Write(c, code, p, reply.Times{})
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

// refused counts a request as a refused message, and reports it to support. A message that is posted to a
// wrong address is lost: carriers do not repeat what got a 4xx.
func (b *base) refused(c *gin.Context, code string) {
	if b.Refused != nil {
		path := c.Request.URL.Path
		b.Refused(b.roomInPath(path), sourceInPath(path), code)
	}
}

// refusedAddress is refused for a request that no handler has seen, if its address speaks of SMS. Reading an
// address posts nothing, unless it has a query: some providers send a message in one.
func (b *base) refusedAddress(c *gin.Context, code string) {
	switch c.Request.Method {
	case http.MethodHead, http.MethodOptions:
		return
	case http.MethodGet:
		if c.Request.URL.RawQuery == "" || c.Request.Context().Value(headKey{}) != nil {
			return
		}
	}
	if speaksOfSMS(c.Request.URL.Path) {
		b.refused(c, code)
	}
}

// speaksOfSMS reports whether a path is below /api/ and names sms, whatever its case, in another place than
// within a room's name.
func speaksOfSMS(path string) bool {
	parts := strings.Split(strings.ToLower(path), "/")
	if len(parts) < 3 || parts[1] != "api" {
		return false
	}
	return parts[2] == "sms" || slices.ContainsFunc(parts[3:], func(part string) bool {
		return strings.Contains(part, "sms")
	})
}

// sourceInPath returns the name that a path ends with, in small letters: that of a source, if it is one.
func sourceInPath(path string) string {
	path = strings.ToLower(strings.TrimRight(path, "/"))
	return path[strings.LastIndexByte(path, '/')+1:]
}

// roomInPath returns the room that a path below /api/ names, whatever its case; "" for none that exists.
func (b *base) roomInPath(path string) room.ID {
	parts := strings.Split(path, "/")
	if len(parts) < 3 {
		return ""
	}
	for _, name := range []string{parts[2], strings.ToLower(parts[2])} {
		if id, err := room.ParseID(name); err == nil && b.Rooms.Has(id) {
			return id
		}
	}
	return ""
}
