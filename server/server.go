// Package server assembles the program: configuration, store, handlers, sockets, and the order of start and
// stop.
package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/internal/origin"
	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/admission"
	"github.com/waitroom/waitroom/server/agree"
	"github.com/waitroom/waitroom/server/near"
	"github.com/waitroom/waitroom/server/roomsfile"
	"github.com/waitroom/waitroom/server/store"
	"github.com/waitroom/waitroom/server/tracing"
	"github.com/waitroom/waitroom/static"
	"github.com/waitroom/waitroom/web"
	"github.com/waitroom/waitroom/web/link"
	"github.com/waitroom/waitroom/web/push"
	"github.com/waitroom/waitroom/web/reach"
	"github.com/waitroom/waitroom/web/signin"
)

// answerTimeout is the time a client has to read an answer, from the end of its request's header. Sockets
// have limits of their own, and exports one for each page.
const answerTimeout = time.Minute

// Server is one replica.
type Server struct {
	cfg       Config
	log       *slog.Logger
	recordLog *slog.Logger // for parts that need the database: one line a minute during an outage
	listener  net.Listener
	admission *admission.Admission
	http      *http.Server
	metrics   *metricsServer // nil if metrics are on the main address
	store     store.Store
	engine    *room.Engine
	db        *sqldb.DB
	ledger    *ledger.Ledger
	tasks     *outbox.Store  // nil without a webhook and without web push
	outbox    *outbox.Worker // likewise
	near      *near.Watch    // nil without WEBHOOK_NEAR
	reach     *reach.Choices // likewise
	pushes    *push.Pushes   // nil without web push
	desk      *signin.Desk
	hub       *hub.Hub
	rooms     *roomsfile.Book
	health    *health
	settings  *agree.Board
	secrets   *secrets
	links     *link.Links
	traces    *tracing.Traces // nil without tracing

	database atomic.Pointer[string] // the name of the database; nil = not known yet

	jumpedAt atomic.Int64 // the last log of a jump of Redis's clock, unix ns
}

// Run serves until ctx ends, then drains and returns nil, also if it still waits for Redis. Otherwise it
// returns the failure that stopped it.
func Run(ctx context.Context, cfg Config, log *slog.Logger) error {
	store.LogTo(log)
	admission.LimitMemory(log)
	s, err := New(ctx, cfg, log)
	if errors.Is(ctx.Err(), context.Canceled) && err != nil { // what it waited for is no failure of its own
		log.Info("stopped before it served", "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// New listens, opens the store and waits until it answers. A caller that does not call Run calls Close.
func New(ctx context.Context, cfg Config, log *slog.Logger) (*Server, error) {
	gin.SetMode(gin.ReleaseMode)
	s := &Server{cfg: cfg, log: log, recordLog: newOutageLog(log)}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) open(ctx context.Context) (err error) {
	// No keep-alive by the listener: sockets have the hub's, and IdleTimeout ends other idle connections.
	if s.listener, err = (&net.ListenConfig{KeepAlive: -1}).Listen(ctx, "tcp", s.cfg.Addr); err != nil {
		return notListening("addr", s.cfg.Addr, err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if s.traces, err = tracing.Open(ctx, s.cfg.Tracing,
		tracing.Options{Log: s.log, Registerer: registry, Instance: s.replicaName()}); err != nil {
		return err
	}
	if err = s.openStores(ctx, registry); err != nil {
		return err
	}
	return s.assemble(registry)
}

// rereading returns a function that reads a setting again by `now`. It logs at most once a minute that it
// cannot. Meanwhile new connections use what the file had at the start, for as long as Redis or the database
// accepts that.
func (s *Server) rereading(now func() (string, error)) func() (string, error) {
	if now == nil {
		return nil
	}
	often := rate.Sometimes{Interval: time.Minute}
	return func() (string, error) {
		text, err := now()
		if err != nil {
			often.Do(func() {
				s.log.Error("the file of a setting cannot be used; new connections sign in as before", "error", err)
			})
		}
		return text, err
	}
}

// openStores opens Redis with the engine, and the database with the ledger.
func (s *Server) openStores(ctx context.Context, registry prometheus.Registerer) (err error) {
	if now := s.rereading(s.cfg.redisNow); now != nil {
		s.cfg.Redis = s.cfg.Redis.Following(now)
	}
	if s.store, err = s.cfg.Redis.Open(s.log); err != nil {
		return err
	}
	if err = store.Await(ctx, s.store, s.cfg.Redis); err != nil {
		return err
	}
	keys, err := s.sealKeys()
	if err != nil {
		return err
	}
	if s.rooms, err = roomsfile.Open(s.cfg.roomChecks(), keys, s.log, registry); err != nil {
		return err
	}
	s.secrets = newSecrets(s.log, registry, s.tellSupport)
	s.engine = room.New(s.store.Client, room.Config{KeyPrefix: s.cfg.RedisPrefix, Lease: s.cfg.Lease,
		AwayAfter: s.cfg.AwayAfter, DropAfter: s.cfg.DropAfter, ClaimWithin: s.cfg.ClaimWithin,
		Waiters: s.cfg.RoomLimit, Journal: journalMax, Quarantine: orOff(s.cfg.SMSQuarantine),
		Required: s.cfg.SMSExpect == "required", Keys: keys,
		Terms: s.terms, OpensAt: s.opensAt, RoomKeys: s.roomKeys(), Tracer: s.traces.RoomTracer(),
		Address: s.cfg.Redis.Address(),
		Recorded: func(ctx context.Context, id room.ID) (room.Recorded, error) {
			return s.ledger.Known(ctx, id)
		},
		Ended: func(ctx context.Context, id room.ID, places []room.PlaceID) ([]room.RecordedEnd, error) {
			return s.ledger.Ended(ctx, id, places)
		}, Lost: s.lost, ClockJumped: s.clockJumped, Unreadable: s.secrets.unreadable})
	s.openPushes(ctx, registry)
	return s.openLedger(ctx, registry)
}

// assemble makes the handlers and their parts.
func (s *Server) assemble(registry *prometheus.Registry) error {
	sites, err := origin.New(s.cfg.PublicURL, s.cfg.AllowedOrigins)
	if err != nil {
		return err
	}
	s.settings = agree.New(agree.Config{Redis: s.store.Client, Names: s.engine.Names(), Name: s.replicaName(),
		Settings: s.sharedHere, Log: s.log, Registerer: registry})
	s.links = link.New(s.store.Client, s.engine.Names())
	s.hub = hub.New(hub.Config{Engine: s.engine, Redis: s.store.Client, Log: s.log, Origins: sites,
		Registerer: registry, Linked: s.standsFor(), Unnotified: s.cfg.Redis.Embedded(),
		Desk: desk.Settings{Panels: newPanels(s.engine, s.ledger.Reader, s.store.Client, s.sourcesOf),
			Rooms: s.cfg.Rooms.Has, Named: s.cfg.Rooms.Names(), Name: s.replicaName(),
			Behind: func() bool { return s.ledger.Status().Behind }, Differing: s.settings.Differing}})
	s.openDesk()
	writes := store.NewProbe(s.store.Client, s.engine.Names(), s.engine.Ping)
	evicts := store.NewEviction(s.store.Client)
	if err := evicts.Ask(context.Background()); err != nil {
		s.log.Warn("Redis may throw away turns and places: set its maxmemory-policy to noeviction", "error", err)
	}
	s.health = &health{checks: []check{
		{name: "redis", bad: "unavailable", ask: writes.Ask},
		{name: "subscription", bad: "stale", ask: s.subscribed},
		{name: "ledger", bad: "behind", ask: s.recorded, soft: true},
		{name: "masters", bad: "unavailable", ask: writes.AskMasters, soft: true, rare: true},
		{name: "memory", bad: "evicts", ask: evicts.Ask, soft: true, rare: true},
		{name: "secrets", bad: "differ", ask: s.secrets.agree, soft: true, rare: true},
		{name: "settings", bad: "differ", ask: s.settings.Agree, soft: true, rare: true},
	}}
	unread := newThrottledLog(s.log, time.Minute)
	registry.MustRegister(s.health, newLineMetrics(s.engine, s.cfg.Rooms.String(), func(err error) {
		unread.failed("rooms are missing in the metrics of lines", err)
	}))
	messages, err := s.openSMS(registry)
	if err != nil {
		return err
	}
	hosts, err := s.cfg.hosts()
	if err != nil {
		return err
	}
	back, err := s.wayBack()
	if err != nil {
		return err
	}
	site := web.Config{
		Engine: s.engine, Sockets: sockets{s.hub}, Support: s.support(messages), Sellers: s.sellers(registry),
		Links: s.links, WayBack: back, Reach: s.reach, Chosen: s.reachChosen, Pushes: s.pushes,
		PublicURL: s.cfg.PublicURL, Rooms: s.cfg.Rooms, Terms: s.engine.Terms, OpensAt: s.engine.OpensAt,
		Info: s.roomInfo, Pace: s.pace(), JoinRefused: s.ledger.JoinRefused,
		AwayAfter: s.cfg.AwayAfter, DropAfter: s.cfg.DropAfter,
		Origins: sites, Ancestors: s.cfg.FrameAncestors, Proxies: s.cfg.TrustedProxies, Hosts: hosts,
		Quota: s.quota(), AddressMark: s.cfg.addressMarks(), SocketsPerAddress: s.cfg.SocketsPerIP,
		AssetPrefix: static.Prefix(), Log: s.log, Registerer: registry, Tracer: s.traces.Tracer("web"),
		Full: admission.Refuses,
		Handlers: map[string]http.Handler{
			"/static/*file": static.Handler(),
			"/worker.js":    static.Worker(),
			// browsers request this for pages that name no icon
			"/favicon.ico": http.RedirectHandler(static.Prefix()+"/icons/waiting.svg", http.StatusFound),
			"/healthz":     http.HandlerFunc(s.health.live),
			"/readyz":      http.HandlerFunc(s.health.ready),
		},
	}
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry})
	if s.cfg.MetricsAddr == "" {
		site.Handlers["/metrics"] = metrics
	} else if s.metrics, err = listenMetrics(s.cfg.MetricsAddr, metrics); err != nil {
		return err
	}
	if messages != nil {
		site.SMS = messages
		site.Refused = func(id room.ID, source, code string) {
			messages.Refused(cmp.Or(id, s.deskRoom()), s.knownSource(source), code)
		}
	}
	handler, err := web.New(site)
	if err != nil {
		return err
	}
	unaccepted := newThrottledLog(s.log, 10*time.Second)
	s.admission = admission.New(admission.Config{Listener: s.listener, Handler: handler,
		Slow:   s.cfg.SellerAuth == byToken,
		Failed: func(err error) { unaccepted.failed("connections cannot be accepted", err) }})
	s.http = &http.Server{Handler: s.admission, ConnState: s.admission.ConnState,
		ConnContext:       s.admission.ConnContext,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: answerTimeout, IdleTimeout: 60 * time.Second, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	return nil
}

// Addr returns the listening address.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL returns the server's address for a person on this machine.
func (s *Server) URL() string { return localURL(s.Addr()) }

// localURL returns the URL of a listening address on this machine.
func localURL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// LocalURL returns the URL of this configuration's server on its own machine.
func (c Config) LocalURL() string { return localURL(c.Addr) }

// Close releases New's resources. Run calls it at its end.
func (s *Server) Close() {
	if s.listener != nil {
		_ = s.listener.Close()
	}
	if s.metrics != nil {
		s.metrics.close()
	}
	if s.store.Close != nil {
		s.store.Close()
	}
	if s.ledger != nil {
		s.ledger.Close()
	}
	if s.pushes != nil {
		s.pushes.Close()
	}
	if s.db != nil {
		_ = s.db.Close()
	}
	s.traces.Close()
}
