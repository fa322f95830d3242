// Package support is the support desk: its API, its pages, and its access control.
package support

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
	"github.com/waitroom/waitroom/web/signin"
)

// Config configures the support desk. The program sets the fields before the empty line; package web sets the
// fields behind it.
type Config struct {
	SignIns    SignIn
	Engine     Engine
	Assign     Assigner // nil: no messages to assign
	Records    Records
	Sockets    Sockets
	Deliveries Deliveries                   // nil: no webhook
	Zone       func(room.ID) *time.Location // of a room's days
	// Hours returns when a room's hours begin next, as seen at a time, and whether that is outside them. The
	// zero time: the room is always open
	Hours func(room.ID, time.Time) (begin time.Time, outside bool)
	Names func(lang string) []templates.RoomName // the operator's names of rooms; nil: none
	// AllSenders reports whether a room takes texts of every sender, and whose codes came lately; nil: no room
	AllSenders func(context.Context, room.ID) (all bool, lately []string)

	Rooms Rooms
	Info  func(id room.ID, lang string) templates.RoomInfo // the operator's texts for a room
}

// Rooms is the set of existing rooms.
type Rooms interface {
	Has(id room.ID) bool
	Names() []room.ID // those listed by name
}

// Desk is support's API and pages.
type Desk struct {
	Config
	*reply.Replies
}

// New returns a desk.
func New(c Config, r *reply.Replies) *Desk { return &Desk{c, r} }

// SignIn signs in members of support; *signin.Desk is one.
type SignIn interface {
	ByPassword() bool
	SignIn(ctx context.Context, name, password, address string) (token string, agent signin.Agent, err error)
	Begin(ctx context.Context, next, address string) (signin.There, error)
	Finish(ctx context.Context, back signin.Back, address string) (token string, agent signin.Agent,
		next string, err error)
	Agent(ctx context.Context, token string) (signin.Agent, error)
	Use(ctx context.Context, token string) (signin.Agent, error)
	SignedIn(ctx context.Context) ([]signin.SignedIn, error)
	End(ctx context.Context, key, by, address, reason string) error
	ProviderSignOut(ctx context.Context, token, address string) (keys []string, err error)
	Signed(ctx context.Context, key string) (bool, error)
	TakesTokens() bool
	Token(ctx context.Context, token, address string) (signin.Agent, error)
	SignOut(ctx context.Context, token, address string) (signin.Agent, error)
}

// Engine is the part of *room.Engine that support uses.
type Engine interface {
	Release(ctx context.Context, id room.ID, request string, fence int64, by room.Action) (room.Standing,
		error)
	Extend(ctx context.Context, id room.ID, request string, fence int64, more time.Duration,
		by room.Action) (room.Standing, error)
	Remove(ctx context.Context, id room.ID, request string, ticket int64, by room.Action) (room.Standing,
		error)
	Move(ctx context.Context, id room.ID, request string, ticket int64, position int,
		by room.Action) (room.Standing, error)
	Restore(ctx context.Context, id room.ID, request string, ticket int64, by room.Action) (room.Standing,
		error)
	Pause(ctx context.Context, id room.ID, request string, paused bool, by room.Action) (room.Standing, error)
	Announce(ctx context.Context, id room.ID, request string, a *room.Announcement, until time.Time,
		by room.Action) (room.Standing, error)
	Open(ctx context.Context, id room.ID, request string, open, closed time.Time, by room.Action) (room.Standing,
		error)
	Audit(ctx context.Context, id room.ID, by room.Action) error
	Roster(ctx context.Context, id room.ID) (room.Roster, error)
	Active(ctx context.Context) ([]room.ID, error)
	Terms(id room.ID) room.Terms
}

// Assigner gives an unmatched message to a lease, if both the engine and the ledger agree.
type Assigner interface {
	Assign(ctx context.Context, id room.ID, q room.AssignRequest) (room.Match, error)
}

// Records reads the ledger. It refuses with a problem.Refusal: invalid_cursor, ledger_unavailable.
type Records interface {
	History(ctx context.Context, id room.ID, f HistoryFilter) (history.Page, error)
	// Report returns the figures of each day of spans, and of each hour if the spans have one.
	Report(ctx context.Context, id room.ID, spans []ReportSpan) (days, hours []templates.ReportFigures,
		err error)
	// Story returns events earliest first. Partial is true while the ledger is away; then only events that it
	// has not recorded yet are there.
	Story(ctx context.Context, f StoryFilter) (events []StoryEvent, partial bool, err error)
	// Sellers finds sellers by a part of their ids. It also reads the journals of the rooms in use.
	Sellers(ctx context.Context, text string, active []room.ID) (FoundSellers, error)
	// Audit returns support's actions in all rooms, and outside rooms.
	Audit(ctx context.Context, f AuditFilter) (Audit, error)
}

// Sockets takes over a request that becomes a support socket, of one room or, with "", of all. SignOut closes
// all sockets of a sign-in.
type Sockets interface {
	ServeDesk(w http.ResponseWriter, r *http.Request, id room.ID, watcher Watcher) error
	SignOut(ctx context.Context, key string) error
}

// Watcher is a member of support that watches.
type Watcher struct {
	Key   string                              // of its sign-in
	Until time.Time                           // the sign-in's end
	Valid func(context.Context) (bool, error) // whether the sign-in is still valid

	Program bool // its token allows any Origin: no page can make a browser send one
}

// Deliveries are the events that the integration has not received. It refuses with a problem.Refusal:
// not_dead, ledger_unavailable.
type Deliveries interface {
	Dead(ctx context.Context) ([]templates.Delivery, error)
	Retry(ctx context.Context, id int64) error
	// RetryAll retries all of them and returns their number.
	RetryAll(ctx context.Context) (int64, error)
	Count(ctx context.Context) (pending, dead int, err error)
	// Failing returns since when (unix ms) a live event has failed, and the last error; 0 if none has.
	Failing(ctx context.Context) (since int64, lastError string, err error)
}

// Routes adds the desk's routes; known refuses rooms that do not exist. Guard controls access.
func (d *Desk) Routes(g *gin.Engine, known gin.HandlerFunc) {
	g.GET(signInPath, d.signInPage)
	g.POST(signInPath, d.signInForm)
	g.POST(signOutPath, d.signOut)
	g.Match([]string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete}, signOutPath,
		d.signOutOnly)
	g.GET(oidcStartPath, d.oidcStart)
	g.GET(oidcCallbackPath, d.oidcCallback)
	g.POST(oidcLogoutPath, d.oidcLogout)

	g.GET("/support", d.roomsPage)
	g.GET("/support/:room", known, d.deskPage)
	g.GET("/support/:room/history", known, d.historyPage)
	g.GET("/support/:room/report", known, d.reportPage)
	g.GET("/support/-/sellers/:seller", d.storyPage)
	g.GET("/support/-/find", d.findPage)
	g.GET("/support/-/audit", d.auditPage)
	g.GET("/support/-/guide", d.guidePage)
	g.GET(signInsPath, d.mayAct, d.signInsPage)
	g.POST(signInsPath+"/:key/end", d.mayAct, d.endOther)
	g.GET(deliveriesPath, d.deliveriesPage)
	g.POST(deliveriesPath+"/:id/retry", d.mayAct, d.retryDelivery)
	g.POST(deliveriesPath+"/retry", d.mayAct, d.retryDeliveries)

	g.GET("/api/support/ws", d.deskSocket)
	g.GET("/api/support/audit", d.audit)
	api := g.Group("/api/support/:room", known)
	api.GET("/ws", d.deskSocket)
	api.GET("/history", d.history)
	api.GET("/report", d.report)
	api.GET("/timeline", d.timeline)
	api.GET("/addresses", d.addresses)
	for name, a := range actions {
		api.POST("/"+name, d.mayAct, d.act(name, a))
	}
}

// deskSocket is GET /api/support/ws and GET /api/support/{room}/ws. After the upgrade it writes nothing more
// here.
func (d *Desk) deskSocket(c *gin.Context) {
	agent := agentOf(c)
	err := d.Sockets.ServeDesk(c.Writer, c.Request, request.Room(c),
		Watcher{Key: agent.Key, Until: agent.Until, Program: agent.Program,
			Valid: func(ctx context.Context) (bool, error) { return d.SignIns.Signed(ctx, agent.Key) }})
	if err != nil && !c.Writer.Written() {
		d.Fail(c, err)
	}
}
