package web

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
)

// broken is an engine that panics, and an SMS service with prepared answers.
type broken struct {
	Engine
	answer sms.Answer
	err    error
}

func (broken) Look(context.Context, room.ID, ...string) (room.View, []room.Seat, error) {
	panic("no such luck")
}

func (b broken) Receive(_ context.Context, _ room.ID, _ http.Header, _ []byte) (sms.Answer, error) {
	return b.answer, b.err
}

func (b broken) ReceiveFrom(_ context.Context, _ room.ID, _ string, _ sms.Request) ([]sms.Answer, error) {
	return []sms.Answer{b.answer}, b.err
}

func (b broken) ReceiveAny(_ context.Context, _ string, _ sms.Request) ([]sms.Answer, error) {
	return []sms.Answer{b.answer}, b.err
}

func (broken) Claim(context.Context, room.ID, room.ExpectRequest) (room.Expectation, error) {
	panic("no such luck")
}

func handler(t *testing.T, cfg Config) http.Handler {
	t.Helper()
	rooms, err := ParseRooms("integration")
	require.NoError(t, err)
	cfg.Rooms = rooms
	if cfg.Terms == nil {
		cfg.Terms = func(room.ID) room.Terms { return room.Terms{} }
	}
	h, err := New(cfg)
	require.NoError(t, err)
	return described.Handler(t, h)
}

func ask(t *testing.T, h http.Handler, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return w
}

func TestPanicIsAnsweredAndLoggedAndTheServerGoesOn(t *testing.T) {
	var log bytes.Buffer
	h := handler(t, Config{Engine: broken{}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		w := ask(t, h, "GET", "/api/integration/lock/status")
		require.Equal(t, http.StatusInternalServerError, w.Code)
		require.Contains(t, w.Body.String(), `"code":"internal"`)
		require.NotContains(t, w.Body.String(), "luck")
	}
	require.Equal(t, http.StatusInternalServerError, ask(t, h, "GET", "/").Code)
	require.Contains(t, log.String(), "no such luck")
}
