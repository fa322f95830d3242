package web

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/signin"
)

// Support is what the support desk is made of. All but Assign and Deliveries are required.
type Support struct {
	Desk       SignIn
	Engine     DeskEngine
	Assign     Assigner // nil: there is no message to assign
	Records    Records
	Sockets    DeskSockets
	Deliveries Deliveries // nil: nobody is told of anything
}

// SignIn knows who of support is signed in; *signin.Desk does.
type SignIn interface {
	ByPassword() bool
	SignIn(ctx context.Context, name, password, address string) (token string, who signin.Agent, err error)
	Begin(ctx context.Context, next, address string) (url, cookie string, err error)
	Finish(ctx context.Context, cookie, state, code, address string) (token string, who signin.Agent, next string, err error)
	Agent(ctx context.Context, token string) (signin.Agent, error)
	Signed(ctx context.Context, key string) (bool, error)
	TakesTokens() bool
	Token(ctx context.Context, token, address string) (signin.Agent, error)
	SignOut(ctx context.Context, token string) (signin.Agent, error)
}

// DeskEngine is what support does in a room; *room.Engine does it.
type DeskEngine interface {
	Release(ctx context.Context, id room.ID, request string, fence int64, by room.Action) (room.Standing, error)
	Extend(ctx context.Context, id room.ID, request string, fence int64, more time.Duration, by room.Action) (room.Standing, error)
	Remove(ctx context.Context, id room.ID, request string, ticket int64, by room.Action) (room.Standing, error)
	Move(ctx context.Context, id room.ID, request string, ticket int64, position int, by room.Action) (room.Standing, error)
	Pause(ctx context.Context, id room.ID, request string, paused bool, by room.Action) (room.Standing, error)
	Audit(ctx context.Context, id room.ID, by room.Action) error
	Active(ctx context.Context) ([]room.ID, error)
}

// Assigner gives an unmatched message to a lease, where both lines of defence agree.
type Assigner interface {
	Assign(ctx context.Context, id room.ID, q room.AssignRequest) (room.Match, error)
}

// Records is what the ledger remembers. It refuses with a Refusal: invalid_cursor, ledger_unavailable.
type Records interface {
	History(ctx context.Context, id room.ID, f HistoryFilter) (History, error)
	// Story is earliest first; partial where the ledger is away, and only what it has not taken in yet is there.
	Story(ctx context.Context, f StoryFilter) (events []StoryEvent, partial bool, err error)
	// Sellers finds sellers by a piece of their ids; the journals of the rooms in use are read too.
	Sellers(ctx context.Context, text string, active []room.ID) (FoundSellers, error)
	// Audit is what support did in all rooms, and in none.
	Audit(ctx context.Context, f AuditFilter) (Audit, error)
}

// DeskSockets takes over a request that becomes a socket of support, of one room or with "" of all, as Sockets does. SignOut
// closes all sockets of a sign-in.
type DeskSockets interface {
	ServeDesk(w http.ResponseWriter, r *http.Request, id room.ID, who Watcher) error
	SignOut(ctx context.Context, key string) error
}

// Watcher is a member of support that watches.
type Watcher struct {
	Key   string                              // what its sign-in is known by
	Until time.Time                           // its sign-in ends
	Valid func(context.Context) (bool, error) // whether it is still signed in

	Program bool // it has sent a token, which no page can have a browser send: any Origin will do
}

// Deliveries are the events that the integration could not be told of. It refuses with a Refusal: not_dead, ledger_unavailable.
type Deliveries interface {
	Dead(ctx context.Context) ([]templates.Delivery, error)
	Retry(ctx context.Context, id int64) error
	// RetryAll sends all of them again and returns how many.
	RetryAll(ctx context.Context) (int64, error)
	Count(ctx context.Context) (pending, dead int, err error)
	// Failing is since when (unix ms) an event is tried in vain that is not given up yet, and the last error; 0 where none is.
	Failing(ctx context.Context) (since int64, lastError string, err error)
}

// supportRoutes are the desk's. Who may use them is guard's to say: it sees every request below /support, also one for which
// there is no route.
func (s *site) supportRoutes(g *gin.Engine) {
	if s.Support == nil {
		return
	}
	g.GET(signInPath, s.signInPage)
	g.POST(signInPath, s.signInForm)
	g.POST(signOutPath, s.signOut)
	g.Match([]string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete}, signOutPath, s.signOutOnly)
	g.GET(oidcStartPath, s.oidcStart)
	g.GET(oidcCallbackPath, s.oidcCallback)

	g.GET("/support", s.roomsPage)
	g.GET("/support/:room", s.known, s.deskPage)
	g.GET("/support/:room/history", s.known, s.historyPage)
	g.GET("/support/-/sellers/:seller", s.storyPage)
	g.GET("/support/-/find", s.findPage)
	g.GET("/support/-/audit", s.auditPage)
	g.GET(deliveriesPath, s.deliveriesPage)
	g.POST(deliveriesPath+"/:id/retry", s.mayAct, s.retryDelivery)
	g.POST(deliveriesPath+"/retry", s.mayAct, s.retryDeliveries)

	g.GET("/api/support/ws", s.deskSocket)
	g.GET("/api/support/audit", s.audit)
	api := g.Group("/api/support/:room", s.known)
	api.GET("/ws", s.deskSocket)
	api.GET("/history", s.history)
	api.GET("/timeline", s.timeline)
	for name, a := range actions {
		api.POST("/"+name, s.mayAct, s.act(name, a))
	}
}

// deskSocket is GET /api/support/ws and GET /api/support/{room}/ws. After the upgrade nothing more is written here.
func (s *site) deskSocket(c *gin.Context) {
	who := agentOf(c)
	err := s.Support.Sockets.ServeDesk(c.Writer, c.Request, roomOf(c), Watcher{Key: who.Key, Until: who.Until, Program: who.Program,
		Valid: func(ctx context.Context) (bool, error) { return s.Support.Desk.Signed(ctx, who.Key) }})
	if err != nil && !c.Writer.Written() {
		s.fail(c, err)
	}
}
