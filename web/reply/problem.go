package reply

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/quota"
	"github.com/waitroom/waitroom/web/request"
)

// Fail answers an error.
func (r *Replies) Fail(c *gin.Context, err error) {
	code := problem.CodeOf(err)
	r.log(c, code, err)
	if limit, ok := errors.AsType[quota.Limited](err); ok {
		r.refuseFor(c, limit)
		return
	}
	if errors.Is(err, sms.ErrRefused) {
		r.Write(c, code, refusedByLedger(code), Times{})
		return
	}
	if reason := identity.Reason(err); reason != "" {
		r.refuseToken(c, code, reason)
		return
	}
	r.Refuse(c, code)
}

// refuseToken answers a token's refusal, with its reason for a program.
func (r *Replies) refuseToken(c *gin.Context, code, reason string) {
	p := problemOf(c, code)
	p.Reason = reason
	if _, bearer := request.Token(c); bearer {
		link := p.Words
		p.Words = func(lang string) templates.Problem {
			if words, ok := problem.Words(lang).Bearer[code]; ok {
				return words
			}
			return link(lang)
		}
	}
	r.Write(c, code, p, Times{})
}

// log logs a server error.
func (r *Replies) log(c *gin.Context, code string, err error) {
	switch {
	case problem.For(code).Status < http.StatusInternalServerError || c.Request.Context().Err() != nil:
	case code == "room_full" || code == "sms_not_configured": // caused by a setting; web logs the first
	case code == "store_unavailable":
		r.away.request(c.FullPath(), err)
	default:
		r.spanError(c, err)
		r.Log.WarnContext(c.Request.Context(), "request failed", "route", c.FullPath(), "code", code, "error",
			err)
	}
}

// Refuse answers a code of the table: JSON to a program, a page to a person.
func (r *Replies) Refuse(c *gin.Context, code string) {
	if problem.For(code).Status == 0 {
		code = "internal"
	}
	r.Write(c, code, problemOf(c, code), Times{})
}

// refuseFor answers a limit's refusal. It names the limit unless it is the rate of joins.
func (r *Replies) refuseFor(c *gin.Context, limit quota.Limited) {
	const code = "too_many_requests"
	c.Header("Retry-After", strconv.Itoa(max(int(math.Ceil(limit.After.Seconds())), 1)))
	p := problemOf(c, code)
	fast := p.Words
	p.Words = func(lang string) templates.Problem {
		if which, ok := problem.Words(lang).Limits[limit.Setting]; ok {
			return which
		}
		return fast(lang)
	}
	r.Write(c, code, p, Times{})
}

// Times has when a repeat is answered otherwise, where that is known.
type Times struct {
	AskAfter *Instant `json:"ask_after,omitempty"` // when the holder may ask, while the number is busy
	OpensAt  *Instant `json:"opens_at,omitempty"`  // when a closed room opens
}

// Write answers a problem.
func (r *Replies) Write(c *gin.Context, code string, p problem.Problem, times Times) {
	c.Abort()
	r.spanProblem(c, code)
	header := c.Writer.Header()
	if p.Retry > 0 && header.Get("Retry-After") == "" {
		header.Set("Retry-After", strconv.Itoa(p.Retry))
	}
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "Accept, Accept-Language, Cookie")
	if request.WantsPage(c) {
		r.errorPage(c, code, p)
		return
	}
	writeProblem(c, code, p, times)
}

func writeProblem(c *gin.Context, code string, p problem.Problem, times Times) {
	lang := request.Spoken(c).Accepted(c.Request)
	words := p.Words(lang)
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Code   string `json:"code"`
		Detail string `json:"detail"`
		Reason string `json:"reason,omitempty"`
		Times
	}{"urn:waitroom:problem:" + code, words.Title, p.Status, code, words.Detail, p.Reason, times})
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	c.Header("Content-Language", lang)
	c.Data(p.Status, "application/problem+json", body)
}

// PageError returns the code and status of a page that shows an error itself.
func (r *Replies) PageError(c *gin.Context, err error) (code string, status int) {
	code = problem.CodeOf(err)
	p := problemOf(c, code)
	if p.Status >= http.StatusInternalServerError {
		r.Log.WarnContext(c.Request.Context(), "page has no rows", "route", c.FullPath(), "code", code,
			"error", err)
	}
	return code, p.Status
}

// spanProblem records the answered problem on a request's span.
func (r *Replies) spanProblem(c *gin.Context, code string) {
	if r.Traced {
		trace.SpanFromContext(c.Request.Context()).SetAttributes(attribute.String("waitroom.problem", code))
	}
}

// spanError records the logged error on a request's span.
func (r *Replies) spanError(c *gin.Context, err error) {
	if r.Traced {
		trace.SpanFromContext(c.Request.Context()).RecordError(err)
	}
}
