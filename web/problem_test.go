package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
)

func TestEveryCodeHasAStatusATitleAndBothLanguages(t *testing.T) {
	korean := regexp.MustCompile(`\p{Hangul}`)
	for code, p := range problems {
		require.Regexp(t, `^[a-z_]+$`, code)
		require.NotEmpty(t, http.StatusText(p.status), code)
		require.GreaterOrEqual(t, p.status, 400, code)
		require.NotEmpty(t, p.title, code)
		require.Regexp(t, korean, p.detail("ko"), code)
		require.NotRegexp(t, korean, p.detail("en"), code)
		busy := p.status == http.StatusTooManyRequests || p.status == http.StatusServiceUnavailable
		require.Equal(t, busy, p.retry > 0, "%s: Retry-After", code)
	}
	for _, known := range codes {
		require.Contains(t, problems, known.code)
	}
	for code, w := range deskWords {
		require.Contains(t, problems, code)
		require.NotEmpty(t, w.title, code)
		require.Regexp(t, korean, w.ko, code)
		require.NotRegexp(t, korean, w.en, code)
	}
}

func TestErrorsBecomeTheCodesOfTheTable(t *testing.T) {
	require.Equal(t, "stale_fence", codeOf(fmt.Errorf("leave: %w", room.ErrStaleFence)))
	require.Equal(t, "store_unavailable", codeOf(fmt.Errorf("%w: %w", room.ErrStore, context.DeadlineExceeded)))
	require.Equal(t, "bad_signature", codeOf(fmt.Errorf("receive: %w", Refusal("bad_signature"))))
	require.Equal(t, "internal", codeOf(errors.New("who knows")))
}

// broken is an engine that panics, and a store for messages that answers what it is told to.
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

func (broken) Claim(context.Context, room.ID, room.ExpectRequest) (room.Expectation, error) {
	panic("no such luck")
}

func handler(t *testing.T, cfg Config) http.Handler {
	t.Helper()
	rooms, err := ParseRooms("integration")
	require.NoError(t, err)
	cfg.Rooms = rooms
	h, err := New(cfg)
	require.NoError(t, err)
	return h
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

func TestOriginThatIsNoneIsRefusedAtTheStart(t *testing.T) {
	_, err := New(Config{Origins: []string{"portal.example"}})
	require.ErrorContains(t, err, "portal.example")
}
