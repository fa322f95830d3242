package web

import (
	"context"
	"net/http"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pushtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/push"
)

const pushPath = "/api/integration/lock/push"

// endingEngine is an engine whose place has ended when it is read a second time.
type endingEngine struct {
	*askEngine
	looks int
}

func (e *endingEngine) Look(ctx context.Context, id room.ID, sessions ...string) (room.View, []room.Seat,
	error) {
	e.looks++
	if e.looks > 1 {
		e.seat.Status = room.Ended
	}
	return e.askEngine.Look(ctx, id, sessions...)
}

func TestSubscriptionOfAPlaceThatEndsMeanwhileIsNotKept(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	pushes, body := push.New(push.Config{Redis: rdb}), pushtest.NewBrowser(t, "https://push.example/1").JSON(t)
	kept := func() []string { return rdb.Keys(t.Context(), "{waitroom-push}:place:*").Val() }

	w := call(t, handler(t, Config{Engine: &endingEngine{askEngine: holding(0)}, Pushes: pushes}), pushPath,
		body)
	require.Equal(t, http.StatusNotFound, w.Code, w.Body.String())
	require.Contains(t, w.Body.String(), `"code":"no_place"`)
	require.Empty(t, kept())

	b := pushtest.NewBrowser(t, "https://push.example/2")
	other, err := pushes.Parse(b.Endpoint, b.P256dh(), b.Auth())
	require.NoError(t, err)
	require.NoError(t, pushes.Subscribe(t.Context(), "integration", 3, other))
	require.Equal(t, http.StatusNotFound, call(t,
		handler(t, Config{Engine: &endingEngine{askEngine: holding(0)}, Pushes: pushes}), pushPath, body).Code)
	require.Len(t, kept(), 1, "another browser of the place may have it still: this browser may just have "+
		"stood for it")
	require.NoError(t, pushes.Forget(t.Context(), "integration", 3))

	h := handler(t, Config{Engine: holding(0), Pushes: pushes})
	require.JSONEq(t, `{"status":"subscribed","ticket":3}`, call(t, h, pushPath, body).Body.String())
	require.Equal(t, []string{"{waitroom-push}:place:integration 3"}, kept())
	for body, code := range map[string]string{``: "invalid_json", `[]`: "invalid_json", `null`: "invalid_json",
		`{}{}`: "invalid_json", `{}`: "invalid_subscription",
		`{"endpoint":4}`: "invalid_subscription", `{"keys":"x"}`: "invalid_subscription",
		`{"keys":{"auth":4}}`: "invalid_subscription", `{"session_id":4}`: "invalid_session"} {
		require.Contains(t, call(t, h, pushPath, body).Body.String(), `"code":"`+code+`"`, body)
	}
}
