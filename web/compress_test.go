package web

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// shown is an engine that returns the same room to every session.
type shown struct {
	Engine
	seat room.Seat
}

func (s shown) Look(context.Context, room.ID, ...string) (room.View, []room.Seat, error) {
	return room.View{}, []room.Seat{s.seat}, nil
}

func read(t *testing.T, h http.Handler, path, takes string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Accept-Encoding", takes)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPagesAreCompressedForClientsThatAcceptIt(t *testing.T) {
	h := handler(t, Config{Engine: shown{seat: room.Seat{Place: room.Place{Status: room.Idle}}}})
	for takes, zipped := range map[string]bool{"gzip, deflate, br": true, "gzip;q=0.1": true, "": false,
		"br": false, "gzip;q=0": false} {
		w := read(t, h, "/rooms/integration", takes)
		require.Equal(t, http.StatusOK, w.Code, takes)
		require.Equal(t, "Accept-Encoding", w.Header().Get("Vary"), takes)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"), takes)
		if !zipped {
			require.Empty(t, w.Header().Get("Content-Encoding"), takes)
			require.Contains(t, w.Body.String(), "</html>", takes)
			continue
		}
		require.Equal(t, "gzip", w.Header().Get("Content-Encoding"), takes)
		text, err := gzip.NewReader(w.Body)
		require.NoError(t, err)
		page, err := io.ReadAll(text)
		require.NoError(t, err)
		require.Contains(t, string(page), "</html>", takes)
	}
	require.Equal(t, "gzip", read(t, h, "/rooms/nowhere", "gzip").Header().Get("Content-Encoding"))
}

// A page with a code is not compressed. Its length, beside an attacker's text, would reveal the code.
func TestAPageThatShowsACodeIsNotCompressed(t *testing.T) {
	code := "123456"
	seat := room.Seat{Place: room.Place{Status: room.Ended, Outcome: room.Completed},
		Messages: []room.Message{{MessageID: "m", Code: &code}}}
	w := read(t, handler(t, Config{Engine: shown{seat: seat}}), "/rooms/integration", "gzip")
	require.Empty(t, w.Header().Get("Content-Encoding"))
	require.Contains(t, w.Body.String(), code)
}
