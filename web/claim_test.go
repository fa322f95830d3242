package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
	"github.com/waitroom/waitroom/web/request"
)

const claimPath = "/api/integration/lock/claim"

// standing returns an engine that answers a claim with a place.
func standing(p room.Place) *askEngine {
	e := holding(0)
	e.standing = room.Standing{View: e.answer.View, Place: p}
	e.standing.Waiting = p.Position
	return e
}

func TestClaimIsAnsweredLikeReady(t *testing.T) {
	e := standing(room.Place{Status: room.Locked, Ticket: 3, Fence: 9, Seller: "s-1"})
	w := call(t, handler(t, Config{Engine: e}), claimPath, `{"fence":9,"else":1}`)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	require.JSONEq(t, `{"status":"locked","room":"integration","session_id":"`+asker+
		`","seller_id":"s-1","ticket":3,"fence":9,
		"granted_at":"1970-01-01T00:00:01.000Z","expires_at":"1970-01-01T00:02:01.000Z","expires_in":120,"epoch":5,"version":8}`, w.Body.String())
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	require.Equal(t, []any{asker, int64(9)}, []any{e.claims[0].Session, e.claims[0].Fence})
	require.NotEmpty(t, e.claims[0].Request)

	e = standing(room.Place{Status: room.Waiting, Ticket: 2, Seller: "s-1", Position: 1})
	h := handler(t, Config{Engine: e})
	for _, body := range []string{`{}`, `{"fence":null}`} {
		w = call(t, h, claimPath, body)
		require.Equal(t, http.StatusAccepted, w.Code, w.Body.String())
		require.NotContains(t, w.Body.String(), "unclaimed")
	}
	require.Equal(t, http.StatusAccepted, call(t, h, claimPath, "", "Content-Type", "").Code,
		"who is back in line has nothing to say but that")
	require.Zero(t, e.claims[2].Fence)
}

func TestSellerThatDidNotClaimSeesItWithItsPlace(t *testing.T) {
	e := holding(0)
	e.seat = room.Seat{Place: room.Place{Status: room.Waiting, Ticket: 2, Seller: "s-1", Position: 1,
		Marks: wire.Marks{Unclaimed: true}}}
	e.answer.Waiting = 1
	h := handler(t, Config{Engine: e})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/integration/lock/status", nil)
	r.Header.Set("X-Session-ID", asker)
	status := httptest.NewRecorder()
	h.ServeHTTP(status, r)
	require.Contains(t, status.Body.String(), `"unclaimed":true`)
	w := call(t, h, "/api/integration/lock", `{"seller_id":"s-1"}`)
	require.Equal(t, http.StatusAccepted, w.Code)
	require.Contains(t, w.Body.String(), `"unclaimed":true`)
}

func TestClaimThatIsNotValidIsRefusedBeforeItIsAsked(t *testing.T) {
	for body, code := range map[string]string{
		``: "invalid_json", `[]`: "invalid_json", `{}{}`: "invalid_json", `null`: "invalid_json",
		`"9"`:         "invalid_json",
		`{"fence":0}`: "invalid_fence", `{"fence":-1}`: "invalid_fence", `{"fence":"9"}`: "invalid_fence",
		`{"fence":1.5}`:                  "invalid_fence",
		`{"fence":99999999999999999999}`: "invalid_fence", `{"session_id":4}`: "invalid_session",
		`{"session_id":"me"}`: "invalid_session",
	} {
		e := standing(room.Place{})
		header := []string{}
		if strings.Contains(body, "me") {
			header = []string{"X-Session-ID", ""}
		}
		w := call(t, handler(t, Config{Engine: e}), claimPath, body, header...)
		require.Equal(t, http.StatusBadRequest, w.Code, body)
		require.Contains(t, w.Body.String(), `"code":"`+code+`"`, body)
		require.Empty(t, e.claims, body)
	}
	e := standing(room.Place{})
	h := handler(t, Config{Engine: e})
	require.Equal(t, http.StatusUnsupportedMediaType,
		call(t, h, claimPath, `{}`, "Content-Type", "text/plain").Code)
	require.Equal(t, http.StatusUnsupportedMediaType, call(t, h, claimPath, `{}`, "Content-Type", "").Code)
	require.Equal(t, http.StatusRequestEntityTooLarge,
		call(t, h, claimPath, `{"x":"`+strings.Repeat("x", request.MaxBody)+`"}`).Code)
	require.Equal(t, http.StatusForbidden, call(t, h, claimPath, `{}`, "Sec-Fetch-Site", "cross-site").Code)
	require.Equal(t, http.StatusMethodNotAllowed, ask(t, h, "GET", claimPath).Code)
	require.Equal(t, http.StatusNotFound, call(t, h, "/api/nowhere/lock/claim", `{}`).Code)
	w := call(t, h, claimPath, `{}`, "X-Session-ID", "")
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), `"code":"no_place"`)
	for err, status := range map[error]int{room.ErrStaleFence: http.StatusConflict,
		room.ErrNoPlace: http.StatusNotFound, room.ErrStore: http.StatusServiceUnavailable} {
		e.err = err
		require.Equal(t, status, call(t, h, claimPath, `{"fence":9}`).Code)
	}
}
