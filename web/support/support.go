// Package support is the support desk: its API, its pages, and who may use them.
package support

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
	"github.com/waitroom/waitroom/web/signin"
)

// Config is what the support desk is made of. Its owner sets the first part but Assign and Deliveries, which
// may be nil; package web sets the rest.
type Config struct {
	SignIns    SignIn
	Engine     Engine
	Assign     Assigner // nil: there is no message to assign
	Records    Records
	Sockets    Sockets
	Deliveries Deliveries // nil: there is no webhook

	Rooms Rooms
	Lease func(room.ID) time.Duration                      // of a lease that is granted now
	Info  func(id room.ID, lang string) templates.RoomInfo // the operator's words about a room
	Names func(lang string) []templates.RoomName           // the operator's names of rooms; nil: none
}

// Rooms are the rooms that there are.
type Rooms interface {
	Has(id room.ID) bool
	Names() []room.ID // those with a name of their own
}

// Desk is support's API and pages.
type Desk struct {
	Config
	*reply.Replies
}

// New makes the desk.
func New(c Config, r *reply.Replies) *Desk { return &Desk{c, r} }

// SignIn knows which members of support are signed in; *signin.Desk is one.
type SignIn interface {
	ByPassword() bool
	SignIn(ctx context.Context, name, password, address string) (token string, who signin.Agent, err error)
	Begin(ctx context.Context, next, address string) (url, cookie string, err error)
	Finish(ctx context.Context, cookie, state, code, address string) (token string, who signin.Agent,
		next string, err error)
	Agent(ctx context.Context, token string) (signin.Agent, error)
	Signed(ctx context.Context, key string) (bool, error)
	TakesTokens() bool
	Token(ctx context.Context, token, address string) (signin.Agent, error)
	SignOut(ctx context.Context, token string) (signin.Agent, error)
}

// Engine is what support does in a room; *room.Engine is one.
type Engine interface {
	Release(ctx context.Context, id room.ID, request string, fence int64, by room.Action) (room.Standing,
		error)
	Extend(ctx context.Context, id room.ID, request string, fence int64, more time.Duration,
		by room.Action) (room.Standing, error)
	Remove(ctx context.Context, id room.ID, request string, ticket int64, by room.Action) (room.Standing,
		error)
	Move(ctx context.Context, id room.ID, request string, ticket int64, position int,
		by room.Action) (room.Standing, error)
	Pause(ctx context.Context, id room.ID, request string, paused bool, by room.Action) (room.Standing, error)
	Audit(ctx context.Context, id room.ID, by room.Action) error
	Active(ctx context.Context) ([]room.ID, error)
}

// Assigner gives an unmatched message to a lease, where both lines of defence agree.
type Assigner interface {
	Assign(ctx context.Context, id room.ID, q room.AssignRequest) (room.Match, error)
}

// Records is what the ledger has. It refuses with a problem.Refusal: invalid_cursor, ledger_unavailable.
type Records interface {
	History(ctx context.Context, id room.ID, f HistoryFilter) (History, error)
	// Story is earliest first; partial where the ledger is away, and only what it has not taken in yet is
	// there.
	Story(ctx context.Context, f StoryFilter) (events []StoryEvent, partial bool, err error)
	// Sellers finds sellers by a piece of their ids; the journals of the rooms in use are read too.
	Sellers(ctx context.Context, text string, active []room.ID) (FoundSellers, error)
	// Audit is what support did in all rooms, and in none.
	Audit(ctx context.Context, f AuditFilter) (Audit, error)
}

// Sockets takes over a request that becomes a socket of support, of one room or with "" of all. SignOut
// closes all sockets of a sign-in.
type Sockets interface {
	ServeDesk(w http.ResponseWriter, r *http.Request, id room.ID, who Watcher) error
	SignOut(ctx context.Context, key string) error
}

// Watcher is a member of support that watches.
type Watcher struct {
	Key   string                              // of its sign-in
	Until time.Time                           // its sign-in ends
	Valid func(context.Context) (bool, error) // whether it is still signed in

	Program bool // it has sent a token, which no page can have a browser send: any Origin will do
}

// Deliveries are the events that were not delivered to the integration. It refuses with a problem.Refusal:
// not_dead, ledger_unavailable.
type Deliveries interface {
	Dead(ctx context.Context) ([]templates.Delivery, error)
	Retry(ctx context.Context, id int64) error
	// RetryAll sends all of them again and returns how many.
	RetryAll(ctx context.Context) (int64, error)
	Count(ctx context.Context) (pending, dead int, err error)
	// Failing is since when (unix ms) an event is tried in vain that is not given up yet, and the last error;
	// 0 where none is.
	Failing(ctx context.Context) (since int64, lastError string, err error)
}

// Routes adds the desk's routes; known is to refuse rooms that there are not. Guard decides who may use them.
func (d *Desk) Routes(g *gin.Engine, known gin.HandlerFunc) {
	g.GET(signInPath, d.signInPage)
	g.POST(signInPath, d.signInForm)
	g.POST(signOutPath, d.signOut)
	g.Match([]string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete}, signOutPath,
		d.signOutOnly)
	g.GET(oidcStartPath, d.oidcStart)
	g.GET(oidcCallbackPath, d.oidcCallback)

	g.GET("/support", d.roomsPage)
	g.GET("/support/:room", known, d.deskPage)
	g.GET("/support/:room/history", known, d.historyPage)
	g.GET("/support/-/sellers/:seller", d.storyPage)
	g.GET("/support/-/find", d.findPage)
	g.GET("/support/-/audit", d.auditPage)
	g.GET(deliveriesPath, d.deliveriesPage)
	g.POST(deliveriesPath+"/:id/retry", d.mayAct, d.retryDelivery)
	g.POST(deliveriesPath+"/retry", d.mayAct, d.retryDeliveries)

	g.GET("/api/support/ws", d.deskSocket)
	g.GET("/api/support/audit", d.audit)
	api := g.Group("/api/support/:room", known)
	api.GET("/ws", d.deskSocket)
	api.GET("/history", d.history)
	api.GET("/timeline", d.timeline)
	for name, a := range actions {
		api.POST("/"+name, d.mayAct, d.act(name, a))
	}
}

// deskSocket is GET /api/support/ws and GET /api/support/{room}/ws. After the upgrade nothing more is written
// here.
func (d *Desk) deskSocket(c *gin.Context) {
	who := agentOf(c)
	err := d.Sockets.ServeDesk(c.Writer, c.Request, request.Room(c),
		Watcher{Key: who.Key, Until: who.Until, Program: who.Program,
			Valid: func(ctx context.Context) (bool, error) { return d.SignIns.Signed(ctx, who.Key) }})
	if err != nil && !c.Writer.Written() {
		d.Fail(c, err)
	}
}
