package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestEndedTurnSaysWhetherItsCodeMayStillCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := holding(1)
		h := handler(t, Config{Engine: e})
		messages := func(status room.Status, judging bool) (body string, waited time.Duration) {
			e.seat.Status, e.seat.Judging = status, judging
			begun := time.Now()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/integration/lock/messages?wait=3",
				nil)
			r.Header.Set("X-Session-ID", asker)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Body.String(), time.Since(begun)
		}
		body, waited := messages(room.Ended, true)
		require.JSONEq(t, `{"room":"integration","fence":9,"status":"ended","messages":[],"judging":true}`, body)
		require.Equal(t, judgedWithin, waited)
		body, waited = messages(room.Ended, false)
		require.JSONEq(t, `{"room":"integration","fence":9,"status":"ended","messages":[]}`, body)
		require.Zero(t, waited, "no code is on its way")
		body, _ = messages(room.Locked, true)
		require.JSONEq(t, `{"room":"integration","fence":9,"status":"locked","messages":[]}`, body,
			"the turn goes on")
	})
}

// The session was seller s-1, and has joined again as s-2. Then s-1's slow code has come.
func TestLateCodeOfAnEarlierPlaceIsNotThisTurns(t *testing.T) {
	e := holding(1)
	h := handler(t, Config{Engine: e})
	earlier, own := "111111", "222222"
	ask := func(messages ...room.Message) string {
		e.seat.Messages = messages
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/integration/lock/messages", nil)
		r.Header.Set("X-Session-ID", asker)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Body.String()
	}
	late := room.Message{MessageID: "m-1", Text: earlier, Code: &earlier, Late: true, Ticket: e.seat.Ticket - 1}
	require.JSONEq(t, `{"room":"integration","fence":9,"status":"locked","messages":[]}`, ask(late))
	body := ask(late, room.Message{MessageID: "m-2", Text: own, Code: &own, Ticket: e.seat.Ticket})
	require.Contains(t, body, own)
	require.NotContains(t, body, earlier)
}
