package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/web/request"
)

const asker = "3f1f6d2e-6a2b-4d37-9a54-0f5c8a1b2c3d"

// askEngine is an engine and an SMS service that record requests and return prepared answers.
type askEngine struct {
	Engine
	answer   room.Expectation
	err      error
	expected *room.ExpectRequest
	claimed  *room.ExpectRequest
	rejected []any
	joined   *room.JoinRequest
	seat     room.Seat
	claims   []room.ClaimRequest
	standing room.Standing // answers them
}

func (e *askEngine) Expect(_ context.Context, _ room.ID, q room.ExpectRequest) (room.Expectation, error) {
	e.expected = &q
	return e.answer, e.err
}

func (e *askEngine) Claim(_ context.Context, _ room.ID, q room.ExpectRequest) (room.Expectation, error) {
	e.claimed = &q
	return e.answer, e.err
}

func (e *askEngine) Receive(context.Context, room.ID, http.Header, []byte) (sms.Answer, error) {
	panic("not asked for")
}

func (e *askEngine) ReceiveFrom(context.Context, room.ID, string, sms.Request) ([]sms.Answer, error) {
	panic("not asked for")
}

func (e *askEngine) ReceiveAny(context.Context, string, sms.Request) ([]sms.Answer, error) {
	panic("not asked for")
}

func (e *askEngine) ClaimTurn(_ context.Context, _ room.ID, q room.ClaimRequest) (room.Standing, error) {
	e.claims = append(e.claims, q)
	return e.standing, e.err
}

func (e *askEngine) Reject(_ context.Context, _ room.ID, session string, fence int64,
	messageID string) error {
	e.rejected = []any{session, fence, messageID}
	return e.err
}

func (e *askEngine) Leave(context.Context, room.ID, room.LeaveRequest) (room.Standing, error) {
	return room.Standing{View: e.answer.View, Place: e.seat.Place}, e.err
}

func (e *askEngine) Join(_ context.Context, _ room.ID, q room.JoinRequest) (room.Standing, error) {
	e.joined = &q
	return room.Standing{View: e.answer.View, Place: e.seat.Place}, e.err
}

func (e *askEngine) Look(context.Context, room.ID, ...string) (room.View, []room.Seat, error) {
	return e.answer.View, []room.Seat{e.seat}, nil
}

// holding returns an engine whose session holds a lease that has asked a number of times.
func holding(asked int) *askEngine {
	lease := &room.Lease{Ticket: 3, Fence: 9, GrantedAt: 1_000, ExpiresAt: 121_000, Asked: asked, Open: asked}
	view := room.View{Room: wire.Room{Epoch: 5, Version: 8}, Now: 1_500, Lease: lease}
	return &askEngine{seat: room.Seat{Place: room.Place{Status: room.Locked, Ticket: 3, Fence: 9,
		Seller: "s-1"}},
		answer: room.Expectation{Standing: room.Standing{View: view}, Ticket: 3, Fence: 9, Asked: 2, Open: 1,
			ExpiresAt: 121_000}}
}

func call(t *testing.T, h http.Handler, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Session-ID", asker)
	r.Header.Set("Accept-Language", "en")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const expectPath, rejectPath = "/api/integration/lock/expect", "/api/integration/lock/reject"

func TestExpectIsHandedOnAndAnsweredAsTheContractSays(t *testing.T) {
	e := holding(1)
	w := call(t, handler(t, Config{Engine: e}), expectPath,
		`{"fence":9,"from":["15881234","+82 10-1"],"contains":"쿠팡","else":1}`, "Idempotency-Key", "k-1")
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	require.JSONEq(t, `{"status":"expecting","room":"integration","session_id":"`+asker+
		`","ticket":3,"fence":9,"asked":2,"open":1,
		"expires_at":"1970-01-01T00:02:01.000Z","epoch":5,"version":8}`, w.Body.String())
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	require.Equal(t, &room.ExpectRequest{Session: asker, Fence: 9, Key: "k-1",
		Filter: room.Filter{From: []string{"15881234", "+82 10-1"}, Contains: "쿠팡"}}, e.expected)
}

func TestMessageIsClaimedWhereMessagesAreReceived(t *testing.T) {
	e := holding(0)
	w := call(t, handler(t, Config{Engine: e, SMS: e}), expectPath, `{"fence":9,"message_id":"m-1"}`)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	require.Nil(t, e.expected)
	require.Equal(t, &room.ExpectRequest{Session: asker, Fence: 9, MessageID: "m-1"}, e.claimed)

	w = call(t, handler(t, Config{Engine: e}), expectPath, `{"fence":9,"message_id":"m-1"}`)
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), `"code":"no_message"`)
}

func TestExpectThatIsNotValidIsRefusedBeforeItIsAsked(t *testing.T) {
	many := `["1","2","3","4","5","6","7","8","9","10","11"]`
	long := strings.Repeat("가", 65)
	for body, code := range map[string]string{
		``: "invalid_json", `[]`: "invalid_json", `{}{}`: "invalid_json", `null`: "invalid_json",
		`"9"`: "invalid_json",
		`{}`:  "invalid_fence", `{"fence":0}`: "invalid_fence", `{"fence":-1}`: "invalid_fence",
		`{"fence":"9"}`: "invalid_fence",
		`{"fence":1.5}`: "invalid_fence", `{"fence":null}`: "invalid_fence",
		`{"fence":99999999999999999999}`: "invalid_fence",
		`{"fence":9,"from":"1"}`:         "invalid_expect", `{"fence":9,"from":[1]}`: "invalid_expect",
		`{"fence":9,"contains":4}`:   "invalid_expect",
		`{"fence":9,"message_id":4}`: "invalid_expect", `{"fence":9,"from":` + many + `}`: "invalid_expect",
		`{"fence":9,"from":["` + long + `"]}`:   "invalid_expect",
		`{"fence":9,"contains":"` + long + `"}`: "invalid_expect",
		`{"fence":9,"from":[""]}`:               "invalid_expect",
		`{"fence":9,"from":["15881234"," "]}`:   "invalid_expect", `{"fence":9,"session_id":4}`: "invalid_session",
	} {
		e := holding(0)
		w := call(t, handler(t, Config{Engine: e}), expectPath, body)
		require.Equal(t, http.StatusBadRequest, w.Code, body)
		require.Contains(t, w.Body.String(), `"code":"`+code+`"`, body)
		require.Nil(t, e.expected, body)
	}
	e := holding(0)
	h := handler(t, Config{Engine: e})
	require.Contains(t, call(t, h, expectPath, `{"fence":9}`, "Idempotency-Key", long).Body.String(),
		"invalid_expect")
	require.Equal(t, http.StatusOK, call(t, h, expectPath, `{"fence":9,"contains":"`+long[:64*3]+`"}`,
		"Idempotency-Key", long[:64*3]).Code)
	require.Equal(t, http.StatusUnsupportedMediaType,
		call(t, h, expectPath, `{"fence":9}`, "Content-Type", "text/plain").Code)
	require.Equal(t, http.StatusRequestEntityTooLarge,
		call(t, h, expectPath, `{"fence":9,"x":"`+strings.Repeat("x", request.MaxBody)+`"}`).Code)
	require.Equal(t, http.StatusForbidden, call(t, h, expectPath, `{"fence":9}`, "Sec-Fetch-Site",
		"cross-site").Code)
	require.Equal(t, http.StatusBadRequest, call(t, h, expectPath, `{"fence":9}`, "X-Session-ID", "me").Code)
	w := call(t, h, expectPath, `{"fence":9}`, "X-Session-ID", "")
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), `"code":"no_place"`)
	require.Equal(t, http.StatusMethodNotAllowed, ask(t, h, "GET", expectPath).Code)
	require.Equal(t, http.StatusNotFound, call(t, h, "/api/nowhere/lock/expect", `{"fence":9}`).Code)
}

func TestBusyNumberSaysFromWhenToAsk(t *testing.T) {
	for after, wait := range map[int64]string{24_501: "24", 24_500: "23", 1_501: "1", 1_400: "1"} {
		e := holding(0)
		e.answer.AskAfter, e.err = after, room.ErrNumberBusy
		w := call(t, handler(t, Config{Engine: e}), expectPath, `{"fence":9}`)
		require.Equal(t, http.StatusConflict, w.Code)
		require.Equal(t, wait, w.Header().Get("Retry-After"))
		require.Contains(t, w.Body.String(), `"code":"number_busy"`)
		if after == 24_500 {
			require.Contains(t, w.Body.String(), `"ask_after":"1970-01-01T00:00:24.500Z"`)
		}
	}
}

func TestRefusalsOfAsksHaveTheirCodes(t *testing.T) {
	for _, tt := range []struct {
		path   string
		err    error
		status int
		code   string
	}{
		{expectPath, room.ErrStaleFence, http.StatusConflict, "stale_fence"},
		{expectPath, room.ErrNoPlace, http.StatusNotFound, "no_place"},
		{expectPath, room.ErrTooManyAsks, http.StatusConflict, "too_many_asks"},
		{expectPath, room.ErrNoMessage, http.StatusNotFound, "no_message"},
		{rejectPath, room.ErrNoMessage, http.StatusNotFound, "no_message"},
		{rejectPath, room.ErrStaleFence, http.StatusConflict, "stale_fence"},
		{rejectPath, room.ErrTooManyRejects, http.StatusConflict, "too_many_rejects"},
		{rejectPath, room.ErrStore, http.StatusServiceUnavailable, "store_unavailable"},
	} {
		e := holding(0)
		e.err = tt.err
		w := call(t, handler(t, Config{Engine: e}), tt.path, `{"fence":9,"message_id":"m-1"}`)
		if tt.path == expectPath {
			w = call(t, handler(t, Config{Engine: e}), tt.path, `{"fence":9}`)
		}
		require.Equal(t, tt.status, w.Code, tt.code)
		require.Contains(t, w.Body.String(), `"code":"`+tt.code+`"`)
	}
}

func TestRejectIsHandedOn(t *testing.T) {
	e := holding(1)
	h := handler(t, Config{Engine: e})
	w := call(t, h, rejectPath, `{"fence":9,"message_id":"m-1"}`)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	require.JSONEq(t, `{"status":"rejected"}`, w.Body.String())
	require.Equal(t, []any{asker, int64(9), "m-1"}, e.rejected)
	require.Equal(t, http.StatusNotFound, call(t, h, rejectPath, `{"fence":9}`).Code)
	require.Equal(t, http.StatusBadRequest, call(t, h, rejectPath, `{"message_id":"m-1"}`).Code)
}

func TestHolderSeesFromWhenToAskWhileTheNumberIsBusy(t *testing.T) {
	e := holding(0)
	h := handler(t, Config{Engine: e})
	join := func() string {
		return call(t, h, "/api/integration/lock", `{"seller_id":"s-1","asks":true}`).Body.String()
	}
	e.answer.Lease.AskAfter = 24_500
	require.Contains(t, join(), `"ask_after":"1970-01-01T00:00:24.500Z"`)
	require.True(t, e.joined.Asks)
	status := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/integration/lock/status", nil)
	status.Header.Set(sessionHeader, asker)
	after := httptest.NewRecorder()
	h.ServeHTTP(after, status)
	require.Contains(t, after.Body.String(), `"ask_after":"1970-01-01T00:00:24.500Z"`)
	e.answer.Lease.AskAfter = 1_500
	require.NotContains(t, join(), "ask_after", "from now on it may ask")
	call(t, h, "/api/integration/lock", `{"seller_id":"s-1"}`)
	require.False(t, e.joined.Asks)
	require.Contains(t, call(t, h, "/api/integration/lock", `{"seller_id":"s-1","asks":"yes"}`).Body.String(),
		"invalid_json")
}

// press sends a form as a browser without JavaScript does, and follows to the page.
func press(t *testing.T, h http.Handler, path string, form url.Values) (location, page string) {
	t.Helper()
	cookies := "waitroom_session=" + asker
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", cookies)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, http.StatusSeeOther, w.Code, w.Body.String())
	for _, c := range w.Result().Cookies() {
		if c.Name != sessionCookie {
			cookies += "; " + c.Name + "=" + c.Value
		}
	}
	location = w.Header().Get("Location")
	r = httptest.NewRequestWithContext(t.Context(), http.MethodGet, location, nil)
	r.Header.Set("Cookie", cookies)
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code)
	return location, w.Body.String()
}

func TestAsksWorkByFormsAlone(t *testing.T) {
	e := holding(0)
	h := handler(t, Config{Engine: e, SMS: e})
	_, page := press(t, h, "/rooms/integration/expect", url.Values{"fence": {"9"}, "key": {"k-1"}})
	require.Equal(t, &room.ExpectRequest{Session: asker, Fence: 9, Key: "k-1"}, e.expected)
	require.Contains(t, page, `data-step="ask"`)
	require.Regexp(t, `name="key" value="[0-9a-f-]{36}"`, page)

	press(t, h, "/rooms/integration/expect", url.Values{"fence": {"9"}, "key": {"k-2"}, "message_id": {"m-1"}})
	require.Equal(t, "m-1", e.claimed.MessageID)

	e.answer.Lease.AskAfter, e.err = 24_500, room.ErrNumberBusy
	_, page = press(t, h, "/rooms/integration/expect", url.Values{"fence": {"9"}})
	require.Contains(t, page, "앞사람이 요청한 문자가 아직 올 수 있어요.")
	require.Contains(t, page, `data-step="busy"`)
	require.Contains(t, page, "0:23")

	_, page = press(t, h, "/rooms/integration/expect", url.Values{})
	require.Contains(t, page, "양의 정수예요")

	e.err = nil
	press(t, h, "/rooms/integration/join", url.Values{"seller_id": {"s-1"}})
	require.True(t, e.joined.Asks, "the page asks each time")
}

func TestRejectByFormAsksFirst(t *testing.T) {
	e := holding(1)
	e.seat.Messages = []room.Message{{MessageID: "m-1", Text: "인증번호 482913", Code: new("482913"),
		ReceivedAt: 1_400, Fence: 9}}
	h := handler(t, Config{Engine: e, SMS: e})
	location, page := press(t, h, "/rooms/integration/reject", url.Values{"fence": {"9"}, "message_id": {"m-1"}})
	require.Equal(t, "/rooms/integration?ask=reject", location)
	require.Nil(t, e.rejected)
	require.Regexp(t, `<dialog id="reject-dialog"[^>]* open`, page)
	require.Contains(t, page, `name="message_id" value="m-1"`)

	press(t, h, "/rooms/integration/reject",
		url.Values{"fence": {"9"}, "message_id": {"m-1"}, "confirm": {"yes"}})
	require.Equal(t, []any{asker, int64(9), "m-1"}, e.rejected)
	e.err = room.ErrTooManyRejects
	_, page = press(t, h, "/rooms/integration/reject",
		url.Values{"fence": {"9"}, "message_id": {"m-1"}, "confirm": {"yes"}})
	require.Contains(t, page, "더 지울 수 없어요")
}

func TestDoneByFormAsksWhileAnAskWaitsForItsCode(t *testing.T) {
	location, page := press(t, handler(t, Config{Engine: holding(1)}), "/rooms/integration/leave",
		url.Values{"fence": {"9"}, "reason": {"completed"}})
	require.Equal(t, "/rooms/integration?ask=done", location)
	require.Regexp(t, `<dialog id="done-dialog"[^>]* open`, page)
}

func TestDoneByFormLeadsToAPageWithTheCodeFolded(t *testing.T) {
	e := holding(0)
	h := handler(t, Config{Engine: e})
	form := url.Values{"fence": {"9"}, "reason": {"completed"}, "confirm": {"yes"}, "entered": {"m 1"}}
	location, _ := press(t, h, "/rooms/integration/leave", form)
	require.Equal(t, "/rooms/integration?entered=m+1", location)

	e.seat = room.Seat{Place: room.Place{Status: room.Ended, Outcome: room.Completed, Ticket: 9, Fence: 9},
		Messages: []room.Message{{MessageID: "m 1", Text: "인증번호 482913", Code: new("482913"), ReceivedAt: 1_400,
			Fence: 9}}}
	require.Contains(t, ask(t, h, "GET", location).Body.String(), `data-entered="true"`)
}

func TestPageHasWhatARangeAroundTheWaitIsMadeOf(t *testing.T) {
	e := holding(0)
	e.answer.View.Spread = 20 * time.Second
	require.Contains(t, ask(t, handler(t, Config{Engine: e}), "GET", "/rooms/integration").Body.String(),
		`"spread":20,`)
}

// The history is read only while the room's own average is partly a whole lease.
func TestPageHasTheRoomsHistoryUntilItHasAnAverageOfItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		holds      int
		past       time.Duration
		want, lack string
		asks       int
	}{
		"no average":                 {0, 40 * time.Second, `"spread":10,"hold":40,`, `"holds"`, 1},
		"of a few leases":            {8, 40 * time.Second, `"spread":10,"hold":40,"holds":8,`, `"spread":20`, 1},
		"of enough leases":           {9, 40 * time.Second, `"spread":20,"holds":9,`, `"hold":`, 0},
		"no history is known":        {8, 0, `"spread":20,"holds":8,`, `"hold":`, 1},
		"no average, and no history": {0, 0, `"spread":20,`, `"hold`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := holding(0)
			e.answer.View.Spread, e.answer.View.Holds = 20*time.Second, c.holds
			asked := 0
			page := ask(t, handler(t, Config{Engine: e, Pace: func(id room.ID, now int64) (hold, spread time.Duration) {
				asked++
				require.Equal(t, room.ID("integration"), id)
				require.EqualValues(t, 1_500, now, "by Redis's clock")
				return c.past, c.past / 4
			}}), "GET", "/rooms/integration").Body.String()
			require.Contains(t, page, c.want)
			require.NotContains(t, page, c.lack)
			require.Equal(t, c.asks, asked)
		})
	}
}

func TestOfferIsAskedAboutUntilItIsAnsweredWithNo(t *testing.T) {
	e := holding(1)
	e.seat.Offers = []room.Offer{{MessageID: "m-1", ReceivedAt: 1_400}}
	h := handler(t, Config{Engine: e, SMS: e})
	asked, refused := ask(t, h, "GET", "/rooms/integration").Body.String(),
		ask(t, h, "GET", "/rooms/integration?not=m-1").Body.String()
	require.Contains(t, asked, `name="message_id" value="m-1"`)
	require.NotContains(t, refused, "m-1")
}

func TestMessageOfAnEarlierTurnIsShownOnlyWhereItCameLate(t *testing.T) {
	e := holding(0)
	e.seat.Messages = []room.Message{
		{MessageID: "m-1", Text: "first turn", Code: new("111111"), ReceivedAt: 900, Fence: 7},
		{MessageID: "m-2", Text: "late text", Code: new("222222"), ReceivedAt: 1_400, Fence: 7, Late: true},
	}
	page := ask(t, handler(t, Config{Engine: e}), "GET", "/rooms/integration").Body.String()
	require.NotContains(t, page, "first turn")
	require.Contains(t, page, "late text")
	require.Contains(t, page, `data-step="ask"`, "it is not this turn's code")
	require.NotRegexp(t, `id="sms-code"[^>]*>222222`, page)
}
