package support_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/describetest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web"
	"github.com/waitroom/waitroom/web/describe"
)

// described checks every answer of these tests against the descriptions.
var described = must(describetest.New(describe.OpenAPI(), describe.AsyncAPI()))

func must[T any](r T, err error) T {
	if err != nil {
		panic(err)
	}
	return r
}

func handler(t *testing.T, cfg web.Config) http.Handler {
	t.Helper()
	rooms, err := web.ParseRooms("integration")
	require.NoError(t, err)
	cfg.Rooms = rooms
	if cfg.Terms == nil {
		cfg.Terms = func(room.ID) room.Terms { return room.Terms{} }
	}
	h, err := web.New(cfg)
	require.NoError(t, err)
	return described.Handler(t, h)
}

func ask(t *testing.T, h http.Handler, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return w
}
