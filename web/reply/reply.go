// Package reply answers requests: programs in JSON, people on pages, problems in the reader's language.
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

// Config configures Replies.
type Config struct {
	Log         *slog.Logger
	AssetPrefix string        // the path of the pages' files
	Timeout     time.Duration // of one call to the store
	DropAfter   time.Duration // the engine's, for error pages
	Traced      bool          // requests have spans
	Proxies     request.Proxies

	// ErrorRoom adds to a seller's error page the link to its room and, after a form, the address to retry.
	ErrorRoom func(c *gin.Context, v *templates.ErrorView)
}

// Replies answers requests.
type Replies struct {
	Config
	away *away
	zips zipper
}

// New returns a Replies.
func New(c Config) *Replies { return &Replies{Config: c, away: &away{log: c.Log}} }

// Instant is a unix millisecond, written as RFC 3339 in UTC.
type Instant int64

// TimeLayout is the layout of times in answers.
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

// Asking returns the context of one call to the store.
func (r *Replies) Asking(c *gin.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.Request.Context(), r.Timeout)
}

const langKept = 365 * 24 * 60 * 60

// ChooseLanguage stores a reader's choice of language.
func (r *Replies) ChooseLanguage(c *gin.Context, lang string) {
	if !request.Seller.Has(lang) {
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: request.LangCookie, Value: lang, Path: "/", MaxAge: langKept,
		Secure: r.Proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}

// ReadForm parses a form, and keeps the language of its page. It returns false once it has answered.
func (r *Replies) ReadForm(c *gin.Context) bool {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, request.MaxBody))
	if err != nil {
		r.Refuse(c, "body_too_large")
		return false
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(body))
	if c.Request.ParseForm() != nil { // fields that it drops would count as missing
		r.Refuse(c, "invalid_query")
		return false
	}
	r.ChooseLanguage(c, c.PostForm("lang"))
	return true
}
