package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/request"
)

// Large and malformed forms have refusals of their own: without a dropped fence, leaving would end any live
// lease.
func TestFormThatIsMalformedIsRefusedAsSuch(t *testing.T) {
	e := &askEngine{seat: room.Seat{Place: room.Place{Status: room.Idle}}}
	h := handler(t, Config{Engine: e})
	send := func(body string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/rooms/integration/join",
			strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	require.Equal(t, http.StatusBadRequest, send("seller_id=%zz"))
	require.Equal(t, http.StatusBadRequest, send("lang=%zz&seller_id=s-1"))
	require.Nil(t, e.joined)
	require.Equal(t, http.StatusSeeOther, send("seller_id=s-1"))
	require.Equal(t, "s-1", e.joined.Seller)
	require.Equal(t, http.StatusRequestEntityTooLarge, send("seller_id="+strings.Repeat("x", request.MaxBody)))
}

func TestFormGivesABrowserItsSessionOnce(t *testing.T) {
	e := &askEngine{seat: room.Seat{Place: room.Place{Status: room.Idle}}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/rooms/integration/join",
		strings.NewReader("seller_id=s-1"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	handler(t, Config{Engine: e}).ServeHTTP(w, r)
	require.Equal(t, http.StatusSeeOther, w.Code)
	var given []string
	for _, cookie := range w.Result().Cookies() {
		if cookie.Name == sessionCookie {
			given = append(given, cookie.Value)
		}
	}
	require.Equal(t, []string{e.joined.Session}, given)
}
