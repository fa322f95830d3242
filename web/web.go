// Package web serves HTTP: the lock API, the sellers' pages, the support desk and the sockets' upgrades. It
// decides nothing about rooms: it reads requests, calls the engine, and answers in JSON or as a page.
package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/waitroom/waitroom/internal/origin"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/describe"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/link"
	"github.com/waitroom/waitroom/web/push"
	"github.com/waitroom/waitroom/web/quota"
	"github.com/waitroom/waitroom/web/reach"
	"github.com/waitroom/waitroom/web/support"
	"github.com/waitroom/waitroom/web/wayback"
)

// Engine is the part of room.Engine that the handlers use.
type Engine interface {
	Join(context.Context, room.ID, room.JoinRequest) (room.Standing, error)
	Leave(context.Context, room.ID, room.LeaveRequest) (room.Standing, error)
	Look(context.Context, room.ID, ...string) (room.View, []room.Seat, error)
	Seen(ctx context.Context, id room.ID, vouch time.Duration, here, gone []string) (room.View, error)
	Expect(context.Context, room.ID, room.ExpectRequest) (room.Expectation, error)
	Reject(ctx context.Context, id room.ID, session string, fence int64, messageID string) error
	ClaimTurn(context.Context, room.ID, room.ClaimRequest) (room.Standing, error)
	Active(ctx context.Context) ([]room.ID, error)
	EachRoom(ctx context.Context, ids []room.ID, within time.Duration,
		f func(context.Context, room.ID) error) map[room.ID]error
}

// Sockets takes over a request that becomes a WebSocket. On an error before the upgrade it answers nothing,
// and a problem.Refusal picks the answer. An empty session is a spectator; lang is the reader's language.
type Sockets interface {
	ServeSocket(w http.ResponseWriter, r *http.Request, id room.ID, session, lang string) error
	// ForbidSocket also takes over the request, and closes the socket at once with 4502: the client must not
	// retry.
	ForbidSocket(w http.ResponseWriter, r *http.Request) error
	// JoinedDevice notifies a session's sockets that another browser joined its place. It also reconnects the
	// sockets of that browser's own session, if own is not "".
	JoinedDevice(ctx context.Context, id room.ID, session, own string) error
	// Changes returns a channel that signals possible changes of a room. The channel is closed once no more
	// signals follow; stop must be called.
	Changes(id room.ID) (changed <-chan struct{}, stop func())
}

// SMS takes an inbound message: it checks the signature in the header and returns where the message belongs.
// Claim gives an unmatched message to the holder that claims it, if both the engine and the ledger agree.
type SMS interface {
	Receive(ctx context.Context, id room.ID, header http.Header, body []byte) (sms.Answer, error)
	ReceiveFrom(ctx context.Context, id room.ID, source string, r sms.Request) ([]sms.Answer, error)
	ReceiveAny(ctx context.Context, source string, r sms.Request) ([]sms.Answer, error)
	Claim(ctx context.Context, id room.ID, q room.ExpectRequest) (room.Expectation, error)
}

// Config configures the handlers. Engine, Rooms and Terms are required.
type Config struct {
	Engine  Engine
	Sockets Sockets // nil: 404
	// nil: 503 sms_not_configured, no source is known, and there is no message to claim
	SMS SMS
	// called for a message refused before SMS sees it, with the room and the source that its address names; a
	// room of "" is none that exists, a source may be none; may be nil
	Refused func(id room.ID, source, code string)
	Support *support.Config   // nil: no desk
	Sellers *identity.Sellers // proves sellers; nil: sellers name themselves
	Pushes  *push.Pushes      // to sellers' browsers; nil: none
	WayBack *wayback.Signer   // signs the way back to the portal; nil: it is a plain link
	Reach   *reach.Choices    // of sellers about messages of their portal; nil: there are none
	Chosen  func(room.ID)     // called after a seller in a room has chosen; required with Reach
	Links   *link.Links       // continue a place in another browser; nil: none
	Rooms   Rooms             // the existing rooms

	Terms func(room.ID) room.Terms // the engine's
	// when a room takes new places again, in unix ms; 0 if it does now. by is what support has set, now unix ms
	// of Redis's clock. nil: all are always open
	OpensAt func(id room.ID, by *wire.BySupport, now int64) int64

	Info func(id room.ID, lang string) templates.RoomInfo // the operator's texts for a room; nil: none

	// how long a room's leases were held before, at the hour of now (unix ms of Redis's clock); zero: not known.
	// It returns soon. nil: it is never known
	Pace func(id room.ID, now int64) (hold, spread time.Duration)
	// called when a join is refused because its seller has a place in the room, with that place's ticket and
	// the time (unix ms); it must not block. nil: none
	JoinRefused func(id room.ID, seller string, ticket, at int64)

	AwayAfter, DropAfter time.Duration // the engine's, shown on pages

	Origins   origin.Sites   // whose pages may act here; on support routes, the server's own alone
	Ancestors []string       // other origins that may frame a seller's page
	Proxies   []netip.Prefix // whose X-Forwarded-* headers are trusted
	Hosts     Hosts          // the server's names; default: any
	// the base of links, without a trailing slash; default: the request's address
	PublicURL string
	Quota     *quota.Quota // of joins per client address; nil: no limit
	// a digest of a client's address, for support to find the places of one address; nil: places keep none
	AddressMark       func(netip.Addr, room.ID) string
	SocketsPerAddress int           // open at the same time per address; 0 = no limit
	Timeout           time.Duration // of one call to the store; default 4 seconds
	// reports whether a request is refused because the server has no files left to open; nil: none is
	Full func(*http.Request) bool

	AssetPrefix string                  // the path of the pages' files
	Handlers    map[string]http.Handler // more GET routes: path → handler

	Log        *slog.Logger
	Registerer prometheus.Registerer // nil: no metrics
	// makes a span for each request but those of Handlers, in the trace of its traceparent; nil: none
	Tracer trace.Tracer
}

// New returns the handler of the whole server.
func New(cfg Config) (http.Handler, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = 4 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	g, err := newSite(cfg).router()
	if err != nil {
		return nil, err
	}
	return headAsGet(g), nil
}

// site is all handlers, each kind with what it needs.
type site struct {
	*base
	mw      *middleware
	lock    *lockAPI
	devices *devices
	push    *pushAPI
	portal  *portal
	sms     *smsAPI
	pages   *pages
}

func newSite(cfg Config) *site {
	b := newBase(cfg)
	api := &lockAPI{sessions: &sessions{b}, open: newOpenSockets(cfg.SocketsPerAddress),
		limited: newRefusals(cfg.Log, cfg.Registerer), deaf: deaf{log: cfg.Log}}
	s := &site{base: b, mw: newMiddleware(b), lock: api, devices: &devices{api}, push: &pushAPI{api},
		portal: &portal{api}, sms: newSMSAPI(b)}
	s.pages = &pages{lockAPI: api, devices: s.devices, push: s.push, portal: s.portal}
	return s
}

func (s *site) router() (*gin.Engine, error) {
	g := gin.New()
	if err := g.SetTrustedProxies(nil); err != nil { // request.Client reads the proxies' headers itself
		return nil, fmt.Errorf("trust no proxies: %w", err)
	}
	g.RedirectTrailingSlash = false
	g.HandleMethodNotAllowed = true
	g.Use(s.mw.chain()...)
	g.NoRoute(s.mw.notFound)
	g.NoMethod(s.mw.methodNotAllowed)

	api := g.Group("/api/:room", s.mw.known)
	s.lock.routes(api)
	s.sms.routes(g, api)
	g.GET("/", s.pages.home)
	pages := g.Group("/rooms/:room", s.mw.known)
	s.pages.routes(pages)
	s.portal.routes(api, pages)
	if s.Links != nil {
		s.devices.routes(api, pages)
	}
	if s.Pushes != nil {
		api.POST("/lock/push", s.push.subscribe)
	}
	if s.mw.desk != nil {
		s.mw.desk.Routes(g, s.mw.known)
	}
	g.GET(docsPath, s.pages.docs)
	for _, handlers := range []map[string]http.Handler{describe.Handlers(), s.Handlers} {
		for path, handler := range handlers {
			g.GET(path, beside(handler, s.mw.notFound))
		}
	}
	return g, nil
}

// headKey is the context key of a HEAD request.
type headKey struct{}

// headAsGet answers HEAD like GET; net/http drops the body by itself.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(context.WithValue(r.Context(), headKey{}, true))
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// beside serves one of Config.Handlers and replaces the handler's 404 with the server's own.
func beside(handler http.Handler, notFound gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		w := &finder{ResponseWriter: c.Writer}
		handler.ServeHTTP(w, c.Request)
		if w.missing {
			c.Writer.Header().Del("Content-Type")
			notFound(c)
		}
	}
}

// finder suppresses the handler's 404.
type finder struct {
	gin.ResponseWriter
	missing bool
}

func (f *finder) WriteHeader(status int) {
	if status == http.StatusNotFound {
		f.missing = true
		return
	}
	f.ResponseWriter.WriteHeader(status)
}

func (f *finder) Write(p []byte) (int, error) {
	if f.missing {
		return len(p), nil
	}
	return f.ResponseWriter.Write(p)
}
