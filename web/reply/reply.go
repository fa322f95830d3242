// Package reply answers requests: in JSON to programs, on pages to people, problems in the words of the
// language.
package reply

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/request"
)

// Config is what answers depend on.
type Config struct {
	Log         *slog.Logger
	AssetPrefix string        // where pages find their files
	Timeout     time.Duration // of one question to the store
	DropAfter   time.Duration // the engine's, for error pages
	Traced      bool          // requests have spans
	Proxies     request.Proxies

	// ErrorRoom completes a seller's error page: which room it leads to, and after a form, which address it
	// asks again.
	ErrorRoom func(c *gin.Context, v *templates.ErrorView)
}

// Replies answers requests.
type Replies struct {
	Config
	away *away
	zips zipper
}

// New makes one.
func New(c Config) *Replies { return &Replies{Config: c, away: &away{log: c.Log}} }

// Instant is a unix millisecond that is written as RFC 3339 in UTC.
type Instant int64

// TimeLayout is how times are written.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// MarshalText writes the time.
func (i Instant) MarshalText() ([]byte, error) {
	return room.Time(int64(i)).AppendFormat(nil, TimeLayout), nil
}

// JSON answers a program.
func (r *Replies) JSON(c *gin.Context, status int, body any) {
	c.Header("Cache-Control", "no-store")
	c.JSON(status, body)
}

// Asking is the context of one question to the store.
func (r *Replies) Asking(c *gin.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.Request.Context(), r.Timeout)
}

const langKept = 365 * 24 * 60 * 60

// ChooseLanguage keeps the language that a person picked.
func (r *Replies) ChooseLanguage(c *gin.Context, lang string) {
	if !request.Seller.Has(lang) {
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: request.LangCookie, Value: lang, Path: "/", MaxAge: langKept,
		Secure: r.Proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}

// ReadForm reads the fields of a form, and keeps the language that its page was in. Where it returns false it
// has answered.
func (r *Replies) ReadForm(c *gin.Context) bool {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, request.MaxBody))
	if err != nil {
		r.Refuse(c, "body_too_large")
		return false
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(body))
	if c.Request.ParseForm() != nil { // the fields that it left out would count as not given
		r.Refuse(c, "invalid_query")
		return false
	}
	r.ChooseLanguage(c, c.PostForm("lang"))
	return true
}
