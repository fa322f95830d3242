package admission

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// opening is a server in which the test decides when each socket finishes opening; "/" is answered at once.
type opening struct {
	*handler
	began, open chan string
	gone        chan string // whose request is over
}

func newOpening() *opening {
	o := &opening{began: make(chan string, 100), open: make(chan string), gone: make(chan string, 100)}
	o.handler = newHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			o.began <- strings.TrimSuffix(r.URL.Path, "/ws")
			<-o.open
		}
		w.WriteHeader(http.StatusAccepted)
	}), slots*runtime.GOMAXPROCS(0))
	return o
}

func (o *opening) come(ctx context.Context, path string) {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path+"/ws", nil)
	r.Header.Set("Upgrade", "websocket")
	o.ServeHTTP(httptest.NewRecorder(), r)
	o.gone <- path
}

// fill starts as many sockets as may be opening at a time.
func (o *opening) fill(ctx context.Context) {
	for range cap(o.slots) {
		go o.come(ctx, "/full")
		<-o.began
	}
}

// empty lets all of them finish opening.
func (o *opening) empty() {
	close(o.open)
	synctest.Wait()
}

func TestRequestIsAnsweredWhileSocketsStandInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOpening()
		defer o.empty()
		o.fill(t.Context())
		go o.come(t.Context(), "/waits")
		synctest.Wait()
		require.Empty(t, o.began, "no more are opened at a time")

		answer, came := httptest.NewRecorder(), time.Now()
		o.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
		require.Equal(t, http.StatusAccepted, answer.Code)
		require.Equal(t, came, time.Now(), "it has not waited, by the fake clock")
	})
}

func TestSocketThatIsOpenMakesRoomForTheNextInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOpening()
		defer o.empty()
		o.fill(t.Context())
		for _, path := range []string{"/first", "/second"} {
			go o.come(t.Context(), path)
			synctest.Wait()
		}
		o.open <- ""
		require.Equal(t, "/first", <-o.began)
		synctest.Wait()
		require.Empty(t, o.began)
	})
}

func TestClientThatLeavesTheLineForASocketIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOpening()
		defer o.empty()
		o.fill(t.Context())
		impatient, leave := context.WithCancel(t.Context())
		go o.come(impatient, "/leaves")
		synctest.Wait()
		go o.come(t.Context(), "/stays")
		synctest.Wait()
		leave()
		require.Equal(t, "/leaves", <-o.gone)
		o.open <- ""
		require.Equal(t, "/stays", <-o.began)
	})
}

func TestSocketThatQueuedForLongIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOpening()
		defer o.empty()
		o.fill(t.Context())
		go o.come(t.Context(), "/waits")
		time.Sleep(queuedWithin) // of the fake clock
		require.Equal(t, "/waits", <-o.began)
	})
}

func TestRequestThatOnlyLooksLikeASocketTakesNoTurn(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"another method":   func(r *http.Request) { r.Method = http.MethodPost },
		"another protocol": func(r *http.Request) { r.Header.Set("Upgrade", "h2c") },
		"another path":     func(r *http.Request) { r.URL.Path = "/static/desk.js" },
	} {
		t.Run(name, func(t *testing.T) {
			var held int
			h := newHandler(nil, 1)
			h.next = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { held = len(h.slots) })
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/integration/ws", nil)
			r.Header.Set("Upgrade", "WebSocket")
			h.ServeHTTP(httptest.NewRecorder(), r)
			require.Equal(t, 1, held, "a socket does")
			change(r)
			h.ServeHTTP(httptest.NewRecorder(), r)
			require.Zero(t, held)
		})
	}
}
