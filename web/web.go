// Package web is everything that is asked over HTTP: the lock API, the sellers' pages, the support desk and
// the way to a socket. It decides nothing about rooms; it reads requests, asks the engine, and says what came
// of it, in JSON or in words.
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
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/link"
	"github.com/waitroom/waitroom/web/push"
	"github.com/waitroom/waitroom/web/quota"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
	"github.com/waitroom/waitroom/web/support"
)

// Engine is what the handlers need of room.Engine.
type Engine interface {
	Join(context.Context, room.ID, room.JoinRequest) (room.Standing, error)
	Leave(context.Context, room.ID, room.LeaveRequest) (room.Standing, error)
	Look(context.Context, room.ID, ...string) (room.View, []room.Seat, error)
	Seen(ctx context.Context, id room.ID, vouch time.Duration, here, gone []string) (room.View, error)
	Expect(context.Context, room.ID, room.ExpectRequest) (room.Expectation, error)
	Reject(ctx context.Context, id room.ID, session string, fence int64, messageID string) error
	ClaimTurn(context.Context, room.ID, room.ClaimRequest) (room.Standing, error)
}

// Sockets takes over a request that becomes a WebSocket. It answers nothing when it returns an error
// from before the upgrade; a problem.Refusal picks the answer. An empty session is a spectator.
type Sockets interface {
	ServeSocket(w http.ResponseWriter, r *http.Request, id room.ID, session string) error
	// ForbidSocket takes the request over as well, and closes the socket at once with 4502: who asks is not
	// to come again.
	ForbidSocket(w http.ResponseWriter, r *http.Request) error
	// JoinedDevice tells the sockets of a session that another browser was let into its place, and has those
	// of that browser's own session, "" for none, come back for it.
	JoinedDevice(ctx context.Context, id room.ID, session, own string) error
	// Changes is sent to when a room may be another one, and closed when nobody will be told any more; stop
	// has to be called.
	Changes(id room.ID) (changed <-chan struct{}, stop func())
}

// SMS takes an inbound message: it checks the signature in the header and says where the message belongs.
// Claim gives an unmatched message to the holder that says it asked for it, where both lines of defence
// agree.
type SMS interface {
	Receive(ctx context.Context, id room.ID, header http.Header, body []byte) (sms.Answer, error)
	ReceiveFrom(ctx context.Context, id room.ID, source string, r sms.Request) (sms.Answer, error)
	Claim(ctx context.Context, id room.ID, q room.ExpectRequest) (room.Expectation, error)
}

// Config is what the handlers are made of. Engine, Rooms and Terms are required.
type Config struct {
	Engine  Engine
	Sockets Sockets                       // nil: 404
	SMS     SMS                           // nil: 503 sms_not_configured, no source is known, and there is no message to claim
	Refused func(id room.ID, code string) // is told of a message that is refused before SMS sees it; nil: nobody is
	Support *support.Config               // nil: there is no desk
	Sellers *identity.Sellers             // proves who sellers are; nil: they say so themselves
	Pushes  *push.Pushes                  // to sellers' browsers; nil: there are none
	Links   *link.Links                   // by which a place is continued in another browser; nil: there are none
	Rooms   Rooms                         // which rooms there are

	Terms func(room.ID) room.Terms                         // the engine's
	Info  func(id room.ID, lang string) templates.RoomInfo // what the operator says of a room; nil: nothing

	Names func(lang string) []templates.RoomName // what the operator calls rooms, for support; nil: nothing

	AwayAfter, DropAfter time.Duration // the engine's, for the page to tell

	Origins           origin.Sites   // whose pages may act here; of support's, the server's own alone
	Ancestors         []string       // other origins whose pages may have a seller's page in a frame
	Proxies           []netip.Prefix // whose X-Forwarded-* headers are believed
	Hosts             Hosts          // what the server is called; default: anything
	PublicURL         string         // where links lead, without a slash at its end; default: what the request was sent to
	Quota             *quota.Quota   // of joins for each client address; nil: no limit
	SocketsPerAddress int            // open at the same time; 0 = no limit
	Timeout           time.Duration  // of one question to the store; default 4 seconds

	AssetPrefix string                  // where the pages find their files
	Handlers    map[string]http.Handler // more that is served by GET: path → handler

	Log        *slog.Logger
	Registerer prometheus.Registerer // nil: nothing is counted
	Tracer     trace.Tracer          // has a span for each request, in the trace of its traceparent, but those that ask for Handlers; nil: there are none
}

// site is the handlers' receiver.
type site struct {
	Config
	*reply.Replies
	proxies request.Proxies
	desk    *support.Desk // nil: there is none
	open    *openSockets
	limited *refusals
	unnamed unnamed
	waiting waitingCalls
	deaf    deaf
	metrics *metrics

	untraced map[string]bool // routes
}

// New makes the handler of the whole server.
func New(cfg Config) (http.Handler, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = 4 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := newSite(cfg)
	g, err := s.router()
	if err != nil {
		return nil, err
	}
	return headAsGet(g), nil
}

func newSite(cfg Config) *site {
	s := &site{Config: cfg, proxies: request.Proxies{Trusted: cfg.Proxies, HTTPS: cfg.Hosts.scheme == "https"}, open: newOpenSockets(cfg.SocketsPerAddress), limited: newRefusals(cfg.Log, cfg.Registerer), deaf: deaf{log: cfg.Log},
		metrics: newMetrics(cfg.Registerer)}
	if s.Tracer != nil {
		s.untraced = besideRooms(s.Handlers)
	}
	s.Replies = reply.New(reply.Config{Log: cfg.Log, AssetPrefix: cfg.AssetPrefix, Timeout: cfg.Timeout,
		DropAfter: cfg.DropAfter, Traced: cfg.Tracer != nil, Proxies: s.proxies, ErrorRoom: s.errorRoom})
	if cfg.Support != nil {
		desk := *cfg.Support
		desk.Rooms, desk.Lease, desk.Info, desk.Names = cfg.Rooms, s.lease, s.info, cfg.Names
		s.desk = support.New(desk, s.Replies)
	}
	return s
}

func (s *site) router() (*gin.Engine, error) {
	g := gin.New()
	if err := g.SetTrustedProxies(nil); err != nil { // client knows better
		return nil, fmt.Errorf("trust no proxies: %w", err)
	}
	g.RedirectTrailingSlash = false
	g.HandleMethodNotAllowed = true
	g.Use(s.observe, s.recover, s.harden, s.rightHost, s.cors, s.sameSite, s.guard, s.wholeQuery)
	g.NoRoute(s.nothingHere)
	g.NoMethod(s.notLikeThis)

	api := g.Group("/api/:room", s.known)
	api.POST("/lock", s.join)
	api.DELETE("/lock", s.leave)
	api.POST("/lock/expect", s.expect)
	api.POST("/lock/reject", s.reject)
	api.POST("/lock/claim", s.claim)
	api.GET("/lock/status", s.status)
	api.GET("/lock/messages", s.messages)
	api.GET("/ws", s.socket)
	api.POST("/sms", s.message)
	api.POST("/sms/:source", s.messageFrom)

	g.GET("/", s.home)
	pages := g.Group("/rooms/:room", s.known)
	pages.GET("", s.page)
	pages.GET("/", s.toPage)
	pages.POST("/join", s.joinForm)
	pages.POST("/leave", s.leaveForm)
	pages.POST("/expect", s.expectForm)
	pages.POST("/reject", s.rejectForm)
	pages.POST("/claim", s.claimForm)

	if s.Links != nil {
		s.linkRoutes(api, pages)
	}
	if s.Pushes != nil {
		api.POST("/lock/push", s.subscribe)
	}
	if s.desk != nil {
		s.desk.Routes(g, s.known)
	}
	s.docsRoutes(g)
	for path, handler := range s.Handlers {
		g.GET(path, s.beside(handler))
	}
	return g, nil
}

// headKey is of the context of a request that was a HEAD.
type headKey struct{}

// headAsGet answers HEAD like GET; net/http leaves the body out by itself.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(context.WithValue(r.Context(), headKey{}, true))
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}
