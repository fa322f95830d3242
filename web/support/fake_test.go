package support_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waitroom/waitroom/internal/origin"
	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web"
	"github.com/waitroom/waitroom/web/signin"
	"github.com/waitroom/waitroom/web/support"
)

// fakeDesk implements everything behind the desk. A token is the name of its agent; did has the calls in
// order.
type fakeDesk struct {
	agents  map[string]signin.Agent
	tokens  map[string]signin.Agent // nil: no integration has one
	unknown error                   // for an unknown token; nil: it is refused
	oidc    bool
	begun   int   // sign-ins by OpenID Connect
	err     error // of every sign-in
	refuse  error // of every action
	did     []string
	by      room.Action
	request string // of the last release
	pages   []history.Page
	asked   []support.HistoryFilter
	audits  []support.Audit
	audited []support.AuditFilter
	events  []support.StoryEvent
	lost    error // of the records
	active  []room.ID
	away    error // of the rooms in use
	line    room.Roster
	stale   int64 // a ticket that is not in line
	sellers support.FoundSellers
	sought  string
	zone    *time.Location          // of days; nil: UTC
	begin   time.Time               // of the next hours
	outside bool                    // of the hours
	day     templates.ReportFigures // of the first day of a report, and of nine o'clock
	spans   []support.ReportSpan    // of the last report

	failing     int64
	lastError   string
	unannounced error // of announcing a sign-out to replicas
	program     bool  // the last socket was a program's
	uses        int   // requests that make a sign-in last on
}

// bounds returns when the days of the last report begin, and when the last one ends.
func (f *fakeDesk) bounds() (list []int64) {
	for i, s := range f.spans {
		if i == 0 || s.Day != f.spans[i-1].Day {
			list = append(list, s.Begins)
		}
	}
	return append(list, f.spans[len(f.spans)-1].Ends)
}

func newFakeDesk() *fakeDesk {
	until := time.Now().Add(8 * time.Hour)
	return &fakeDesk{agents: map[string]signin.Agent{
		"choi": {Name: "choi", Role: signin.Act, Key: signin.KeyOf("choi"), Until: until},
		"kim":  {Name: "kim", Role: signin.Act, Key: signin.KeyOf("kim"), Until: until},
		"park": {Name: "park", Role: signin.Watch, Key: signin.KeyOf("park"), Until: until},
	}}
}

func (f *fakeDesk) support() *support.Config {
	return &support.Config{SignIns: fakeSignIn{f}, Engine: fakeDeskEngine{f}, Assign: fakeDeskEngine{f},
		Records: fakeRecords{f},
		Sockets: fakeDeskSockets{f}, Deliveries: fakeDeliveries{f},
		Zone:  func(room.ID) *time.Location { return cmp.Or(f.zone, time.UTC) },
		Hours: func(room.ID, time.Time) (time.Time, bool) { return f.begin, f.outside }}
}

func (fakeDeskEngine) Terms(room.ID) room.Terms { return room.Terms{Lease: 2 * time.Minute} }

type (
	fakeSignIn      struct{ *fakeDesk }
	fakeDeskEngine  struct{ *fakeDesk }
	fakeRecords     struct{ *fakeDesk }
	fakeDeskSockets struct{ *fakeDesk }
	fakeDeliveries  struct{ *fakeDesk }
)

func (f fakeSignIn) ByPassword() bool { return !f.oidc }

func (f fakeSignIn) SignIn(_ context.Context, name, password, _ string) (string, signin.Agent, error) {
	if f.err != nil {
		return "", signin.Agent{}, f.err
	}
	who, ok := f.agents[name]
	if !ok || password != "open sesame" {
		return "", signin.Agent{}, signin.ErrWrong
	}
	return name, who, nil
}

func (f fakeSignIn) Begin(_ context.Context, next, _ string) (signin.There, error) {
	f.begun++
	return signin.There{URL: "https://issuer.example/authorize", State: fmt.Sprintf("STATE%d", f.begun),
		Cookie: "cookie " + next}, f.err
}

func (f fakeSignIn) Finish(_ context.Context, back signin.Back, _ string) (string, signin.Agent, string,
	error) {
	next, ok := strings.CutPrefix(back.Cookie, "cookie ")
	switch {
	case f.err != nil:
		return "", signin.Agent{}, "", f.err
	case ok && back.Error != "":
		return "", signin.Agent{}, "", signin.ErrDenied
	case !ok || back.State == "" || back.Code == "":
		return "", signin.Agent{}, "", signin.ErrExpired
	}
	return "kim", f.agents["kim"], next, nil
}

func (f fakeSignIn) Agent(_ context.Context, token string) (signin.Agent, error) {
	if token == "store" {
		return signin.Agent{}, room.ErrStore
	}
	who, ok := f.agents[token]
	if !ok {
		return signin.Agent{}, signin.ErrNotSignedIn
	}
	return who, nil
}

func (f fakeSignIn) Use(ctx context.Context, token string) (signin.Agent, error) {
	f.uses++
	return f.Agent(ctx, token)
}

func (f fakeSignIn) SignedIn(context.Context) (list []signin.SignedIn, err error) {
	for _, who := range f.agents {
		list = append(list, signin.SignedIn{Key: who.Key, Name: who.Name, Role: who.Role,
			Until: who.Until.UnixMilli()})
	}
	return list, f.err
}

func (f fakeSignIn) End(_ context.Context, key, by, _, reason string) error {
	for name, who := range f.agents {
		if who.Key == key {
			delete(f.agents, name)
			_, err := f.done("end %s by %s: %s", name, by, reason)
			return err
		}
	}
	return signin.ErrNotSignedIn
}

func (f fakeSignIn) ProviderSignOut(_ context.Context, token, _ string) ([]string, error) {
	if who, ok := f.agents[token]; ok {
		return []string{who.Key}, nil
	}
	return nil, cmp.Or(f.err, error(signin.ErrExpired))
}

func (f fakeSignIn) Signed(context.Context, string) (bool, error) { return true, nil }

func (f fakeSignIn) TakesTokens() bool { return f.tokens != nil }

func (f fakeSignIn) Token(_ context.Context, token, address string) (signin.Agent, error) {
	if who, ok := f.tokens[token]; ok {
		return who, nil
	}
	f.did = append(f.did, "unknown token from "+address)
	return signin.Agent{}, cmp.Or(f.unknown, signin.ErrNotSignedIn)
}

func (f *fakeDesk) done(format string, args ...any) (room.Standing, error) {
	if f.refuse != nil {
		return room.Standing{}, f.refuse
	}
	f.did = append(f.did, fmt.Sprintf(format, args...))
	return room.Standing{View: room.View{Room: wire.Room{Epoch: 7, Version: 40}}}, nil
}

func (f fakeDeskEngine) Release(_ context.Context, id room.ID, request string, fence int64,
	by room.Action) (room.Standing, error) {
	f.by, f.request = by, request
	return f.done("release %s %d", id, fence)
}

func (f fakeDeskEngine) Extend(_ context.Context, id room.ID, _ string, fence int64, more time.Duration,
	by room.Action) (room.Standing, error) {
	f.by = by
	return f.done("extend %s %d %s", id, fence, more)
}

func (f fakeDeskEngine) Remove(_ context.Context, id room.ID, _ string, ticket int64,
	by room.Action) (room.Standing, error) {
	f.by = by
	if ticket == f.stale {
		return room.Standing{}, room.ErrStaleTicket
	}
	return f.done("remove %s %d", id, ticket)
}

func (f fakeDeskEngine) Roster(context.Context, room.ID) (room.Roster, error) {
	return f.line, f.refuse
}

func (f fakeDeskEngine) Move(_ context.Context, id room.ID, _ string, ticket int64, position int,
	by room.Action) (room.Standing, error) {
	f.by = by
	return f.done("move %s %d %d", id, ticket, position)
}

func (f fakeDeskEngine) Restore(_ context.Context, id room.ID, _ string, ticket int64,
	by room.Action) (room.Standing, error) {
	f.by = by
	st, err := f.done("restore %s %d", id, ticket)
	st.Ticket = ticket + 1
	return st, err
}

func (f fakeDeskEngine) Pause(_ context.Context, id room.ID, _ string, paused bool,
	by room.Action) (room.Standing, error) {
	f.by = by
	return f.done("pause %s %t", id, paused)
}

func (f fakeDeskEngine) Announce(_ context.Context, id room.ID, _ string, a *room.Announcement, until time.Time,
	by room.Action) (room.Standing, error) {
	if f.by = by; a == nil {
		return f.done("announce %s nothing", id)
	}
	return f.done("announce %s %s %q %t", id, a.Level, a.String(), until.UnixMilli() == by.Until)
}

func (f fakeDeskEngine) Open(_ context.Context, id room.ID, _ string, open, closed time.Time,
	by room.Action) (room.Standing, error) {
	f.by = by
	return f.done("open %s %s %s", id, f.until(open), f.until(closed))
}

// until names a time that support gave.
func (f fakeDeskEngine) until(at time.Time) string {
	switch {
	case at.IsZero():
		return "never"
	case at.Equal(f.begin):
		return "begin"
	}
	return at.Format(time.RFC3339)
}

func (f fakeDeskEngine) Audit(_ context.Context, id room.ID, by room.Action) error {
	f.by = by
	_, err := f.done("audit %s %s", id, by.Action)
	return err
}

func (f fakeDeskEngine) Active(context.Context) ([]room.ID, error) { return f.active, f.away }

func (f fakeDeskEngine) Assign(_ context.Context, id room.ID, q room.AssignRequest) (room.Match, error) {
	f.by = q.By
	_, err := f.done("assign %s %s %d", id, q.MessageID, q.Fence)
	return room.Match{Result: room.Late, Ticket: 3, Epoch: 7, Version: 40}, err
}

func (f fakeRecords) History(_ context.Context, _ room.ID, q support.HistoryFilter) (history.Page, error) {
	f.asked = append(f.asked, q)
	n := len(f.asked) - 1
	if n >= len(f.pages) {
		return history.Page{}, f.lost
	}
	return f.pages[n], nil
}

func (f fakeRecords) Report(_ context.Context, id room.ID, spans []support.ReportSpan) (days,
	hours []templates.ReportFigures, err error) {
	f.did = append(f.did, fmt.Sprint("report ", id))
	f.spans = spans
	none := templates.ReportFigures{WaitP50: -1, WaitP95: -1, HoldP50: -1, CodeDelayP50: -1, CodeDelayP95: -1}
	days, hours = slices.Repeat([]templates.ReportFigures{none}, spans[len(spans)-1].Day+1),
		slices.Repeat([]templates.ReportFigures{none}, 24)
	days[0], hours[9] = f.day, f.day
	return days, hours, f.lost
}

func (f fakeRecords) Sellers(_ context.Context, text string, _ []room.ID) (support.FoundSellers, error) {
	f.sought = text
	return f.sellers, f.lost
}

func (f fakeRecords) Story(_ context.Context, q support.StoryFilter) ([]support.StoryEvent, bool, error) {
	f.did = append(f.did, fmt.Sprint("story ", q.Seller, " ", q.Room, " ", q.From))
	return f.events, f.lost != nil, nil
}

func (f fakeRecords) Audit(_ context.Context, q support.AuditFilter) (support.Audit, error) {
	f.audited = append(f.audited, q)
	n := len(f.audited) - 1
	if n >= len(f.audits) {
		return support.Audit{}, f.lost
	}
	return f.audits[n], nil
}

func (f fakeSignIn) SignOut(_ context.Context, token, _ string) (signin.Agent, error) {
	who, err := f.Agent(context.Background(), token)
	if err == nil {
		delete(f.agents, token)
	}
	return who, err
}

func (f fakeDeskSockets) SignOut(_ context.Context, key string) error {
	f.did = append(f.did, "sign out "+key)
	return f.unannounced
}

func (f fakeDeliveries) Dead(context.Context) ([]templates.Delivery, error) { return nil, f.lost }

func (f fakeDeliveries) Count(context.Context) (int, int, error) { return 1, 2, f.lost }

func (f fakeDeliveries) RetryAll(context.Context) (int64, error) {
	f.did = append(f.did, "retry all")
	return 3, f.lost
}

func (f fakeDeliveries) Failing(context.Context) (int64, string, error) {
	return f.failing, f.lastError, f.lost
}

func (f fakeDeliveries) Retry(_ context.Context, id int64) error {
	_, err := f.done("retry %d", id)
	return err
}

func (f fakeDeskSockets) ServeDesk(w http.ResponseWriter, _ *http.Request, id room.ID,
	who support.Watcher) error {
	f.did = append(f.did, fmt.Sprintf("serve %q %s", id, who.Key))
	f.program = who.Program
	w.WriteHeader(http.StatusSwitchingProtocols)
	return nil
}

// deskHandler returns the handler of the whole site with a fake desk.
func deskHandler(t *testing.T, f *fakeDesk) http.Handler {
	t.Helper()
	return deskHandlerWith(t, f, func(*web.Config) {})
}

func deskHandlerWith(t *testing.T, f *fakeDesk, change func(*web.Config)) http.Handler {
	t.Helper()
	c := web.Config{Support: f.support(),
		Origins: must(origin.New("", []string{"https://portal.example"}))}
	change(&c)
	return handler(t, c)
}

// call sends a request as an agent, "" for none; headers are name, value, name, value …
func (f *fakeDesk) call(t *testing.T, h http.Handler, token, method, path, body string,
	headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if token != "" {
		r.AddCookie(&http.Cookie{Name: support.Cookie, Value: token})
	}
	if strings.HasPrefix(path, "/api/") && method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
