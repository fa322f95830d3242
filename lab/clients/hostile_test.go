package clients

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/client"
)

// answers are correct answers about a place that holds the lock.
var answers = map[string]string{
	"POST /lock":         `{"status":"locked","fence":7}`,
	"GET /lock/status":   `{"status":"locked","paused":false,"me":{"status":"locked","fence":7}}`,
	"POST /lock/expect":  `{"status":"expecting","fence":7}`,
	"POST /lock/reject":  `{"status":"rejected"}`,
	"DELETE /lock":       `{"status":"released","outcome":"completed"}`,
	"GET /lock/messages": `{"status":"locked","fence":7,"messages":[]}`,
	"awaited": `{"status":"locked","fence":7,"messages":[{"message_id":"m-1","text":"","code":"482913",
		"received_at":"2026-11-21T03:01:05.000Z","late":false}]}`,
}

// rightly answers as a correct server does.
func rightly(w http.ResponseWriter, r *http.Request) {
	call := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/room:1")
	if r.URL.Query().Has("wait") && r.Method == http.MethodGet {
		call = "awaited"
	}
	text, ok := answers[call]
	if !ok {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	_, _ = w.Write([]byte(text))
}

// fake returns the URL of a server that answers with f.
func fake(t *testing.T, f http.HandlerFunc) string {
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server.URL
}

// within returns a context that lasts long enough for a client that retries.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func eachLanguage(t *testing.T, does func(*testing.T, language)) {
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			does(t, l)
		})
	}
}

// A developer reads what a client was refused for: in English, unless the program asks for another language.
func TestAProgramIsAnsweredInEnglishUnlessItAsksForAnotherLanguage(t *testing.T) {
	for name, join := range map[string]func(*testing.T, string, string){
		"go": func(t *testing.T, url, lang string) {
			var c client.Config
			if lang != "" {
				c.Header = http.Header{"Accept-Language": {lang}}
			}
			of, err := client.New(url, c)
			require.NoError(t, err)
			_, err = of.Join(within(t, 10*time.Second), "room:1", "a")
			require.NoError(t, err)
		},
		"javascript": func(t *testing.T, url, lang string) {
			headers := "undefined"
			if lang != "" {
				headers = fmt.Sprintf(`{ "accept-language": %q }`, lang)
			}
			runScript(t, url, `await join(url, "room:1", "a", { headers: `+headers+` });`)
		},
		"python": func(t *testing.T, url, lang string) {
			headers := "None"
			if lang != "" {
				headers = fmt.Sprintf(`{"accept-language": %q}`, lang)
			}
			runPython(t, fmt.Sprintf(`waitroom.join(%q, "room:1", "a", headers=%s)`, url, headers))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for asked, want := range map[string]string{"": "en", "ko": "ko"} {
				var got atomic.Value
				url := fake(t, func(w http.ResponseWriter, r *http.Request) {
					got.Store(strings.Join(r.Header.Values("Accept-Language"), ", "))
					rightly(w, r)
				})
				join(t, url, asked)
				require.Equal(t, want, got.Load(), asked)
			}
		})
	}
}

// A 200 from something else than the server, such as a hotel's login page, is not an answer.
func TestWhatAProxyMadeUpIsNoAnswer(t *testing.T) {
	eachLanguage(t, func(t *testing.T, l language) {
		for _, page := range []string{"<html>log in</html>", "{}", "[]", "null", `"ok"`} {
			t.Run(page, func(t *testing.T) {
				t.Parallel()
				takesACodeDespite(t, l, page)
			})
		}
	})
}

func takesACodeDespite(t *testing.T, l language, page string) {
	var calls sync.Map
	url := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if _, known := calls.LoadOrStore(r.Method+r.URL.String(), true); !known {
			_, _ = w.Write([]byte(page))
			return
		}
		rightly(w, r)
	})
	ctx := within(t, 30*time.Second)
	r, err := l.join(ctx, t, url, "room:1", "셀러")
	require.NoError(t, err)
	require.NoError(t, r.wait(ctx))
	code, _, err := r.code(ctx, from, 0, func() {})
	require.NoError(t, err)
	require.Equal(t, "482913", code)
	require.NoError(t, r.reject(ctx))
	require.NoError(t, r.done(ctx))
}

// The session is sent to no other server than the configured one.
func TestNoClientFollowsARedirect(t *testing.T) {
	eachLanguage(t, func(t *testing.T, l language) {
		var sessions atomic.Int64
		other := fake(t, func(w http.ResponseWriter, r *http.Request) {
			sessions.Add(1)
			rightly(w, r)
		})
		url := fake(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other+r.URL.Path, http.StatusTemporaryRedirect)
		})
		_, err := l.resume(within(t, 10*time.Second), t, url, "room:1", "0f7c4b7e-0000-4000-8000-000000000001")
		require.EqualError(t, err, "unknown")
		require.Zero(t, sessions.Load())
	})
}

// A Retry-After that is no number or absurdly long neither ends the client nor makes it hurry.
func TestAnOddRetryAfterIsWaitedOut(t *testing.T) {
	malformed := map[string]bool{"Thu, 26 Nov 2026 04:00:00 GMT": true, "-1": true, "\xb2": true,
		"99999999999": false}
	eachLanguage(t, func(t *testing.T, l language) {
		for after, soon := range malformed {
			t.Run(after, func(t *testing.T) {
				t.Parallel()
				var calls atomic.Int64
				ctx, stop := context.WithCancel(within(t, time.Minute)) // a program starts slowly beside others
				defer stop()
				url := fake(t, func(w http.ResponseWriter, r *http.Request) {
					if calls.Add(1) > 1 && soon {
						rightly(w, r)
						return
					}
					if !soon {
						time.AfterFunc(2*time.Second, stop) // it still waits then
					}
					w.Header().Set("Retry-After", after)
					w.WriteHeader(http.StatusTooManyRequests)
				})
				_, err := l.join(ctx, t, url, "room:1", "a")
				if soon {
					require.NoError(t, err)
					return
				}
				require.Error(t, err)
				require.EqualValues(t, 1, calls.Load())
			})
		}
	})
}

// waitsBehind returns a server at which a place waits until its status is read a second time.
func waitsBehind(t *testing.T, then string, socket http.HandlerFunc) string {
	var looks atomic.Int64
	return fake(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/ws"):
			socket(w, r)
		case strings.HasSuffix(r.URL.Path, "/status") && looks.Add(1) > 1:
			_, _ = w.Write([]byte(then))
		default:
			_, _ = w.Write([]byte(`{"status":"waiting","queue_position":1,"me":{"status":"waiting"}}`))
		}
	})
}

// A proxy accepts the handshake and never answers it; the client still learns of its turn.
func TestASocketThatHangsHidesNoTurn(t *testing.T) {
	eachLanguage(t, func(t *testing.T, l language) {
		over := make(chan struct{})
		t.Cleanup(func() { close(over) })
		url := waitsBehind(t, answers["GET /lock/status"], func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-over:
			case <-r.Context().Done():
			}
		})
		ctx := within(t, 40*time.Second)
		r, err := l.join(ctx, t, url, "room:1", "a")
		require.NoError(t, err)
		require.NoError(t, r.wait(ctx))
	})
}

// mute is a server whose socket never says a word. The place's turn comes at the third look.
type mute struct {
	upgrades bool // it takes the handshake, slowly; else it does not answer that either
	looks    []time.Time
}

func (m *mute) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	switch {
	case !strings.HasSuffix(r.URL.Path, "/ws"):
		place := `{"status":"waiting"}`
		if strings.HasSuffix(r.URL.Path, "/status") {
			m.looks = append(m.looks, time.Now())
		}
		if len(m.looks) > 2 {
			place = `{"status":"locked","fence":7}`
		}
		_, _ = w.WriteString(`{"status":"locked","me":` + place + `}`)
	case m.upgrades:
		time.Sleep(4 * time.Second)
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		silence, _ := net.Pipe()
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: silence, Header: http.Header{
			"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
			"Sec-Websocket-Accept": {base64.StdEncoding.EncodeToString(sum[:])}}}, nil
	default:
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return w.Result(), nil
}

// While no socket has spoken, calls show that the program is there, long before it counts as away.
func TestASocketThatNeverSpeaksMakesNoProgramAway(t *testing.T) {
	const awayAfter = 15 * time.Second // by default
	for _, upgrades := range []bool{false, true} {
		t.Run(fmt.Sprint("upgrades ", upgrades), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &mute{upgrades: upgrades}
				c, err := client.New("http://server", client.Config{HTTP: &http.Client{Transport: m}})
				require.NoError(t, err)
				turn, err := c.Join(t.Context(), "room:1", "a")
				require.NoError(t, err)
				require.NoError(t, turn.Wait(t.Context()))
				require.Len(t, m.looks, 3)
				for n := range m.looks[1:] {
					require.Less(t, m.looks[n+1].Sub(m.looks[n]), awayAfter/2)
				}
			})
		})
	}
}

// A server that has no such place any more has not granted the lock.
func TestAPlaceThatIsGoneIsNoTurn(t *testing.T) {
	eachLanguage(t, func(t *testing.T, l language) {
		url := waitsBehind(t, `{"status":"free","me":null}`, func(w http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"waitroom"}})
			if err != nil {
				return
			}
			defer func() { _ = conn.CloseNow() }()
			_ = conn.Write(r.Context(), websocket.MessageText, []byte(`{"type":"state","status":"idle"}`))
			_, _, _ = conn.Read(r.Context())
		})
		ctx := within(t, 20*time.Second)
		r, err := l.join(ctx, t, url, "room:1", "a")
		require.NoError(t, err)
		require.EqualError(t, r.wait(ctx), "no_place")
	})
}

// Any call of a turn that hangs ends with its context or its signal.
func TestACallThatHangsEndsWithItsCaller(t *testing.T) {
	for _, hangs := range []string{"/lock/status", "/lock/expect", "/lock/messages", "/lock/reject"} {
		t.Run(hangs, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			url := fake(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, hangs) {
					<-over
					return
				}
				rightly(w, r)
			})
			t.Cleanup(func() { close(over) }) // before the server is closed
			require.Equal(t, "TimeoutError", runScript(t, url, `
const turn = await join(url, "room:1", "a");
const soon = { signal: AbortSignal.timeout(300) };
const took = setTimeout(() => console.log("late"), 2000);
try {
  await turn.wait(soon);
  await turn.code(soon);
  await turn.reject({ fence: 7, message_id: "m-1" }, soon);
} catch (error) {
  console.log(error.name);
}
clearTimeout(took);`))
			r, err := languages[0].join(t.Context(), t, url, "room:1", "a")
			require.NoError(t, err)
			begun, soon := time.Now(), within(t, 300*time.Millisecond)
			err = r.wait(soon)
			if err == nil {
				_, _, err = r.code(soon, from, 0, func() {})
			}
			if err == nil {
				err = r.reject(soon)
			}
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Less(t, time.Since(begun), time.Second)
		})
	}
}

// silences are what a client gets where no server answers it.
var silences = map[string]func(w http.ResponseWriter, over <-chan struct{}){
	"a proxy without its server": func(w http.ResponseWriter, _ <-chan struct{}) {
		http.Error(w, "<h1>Bad Gateway</h1>", http.StatusBadGateway)
	},
	"a server without its store": func(w http.ResponseWriter, _ <-chan struct{}) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, `{"code":"store_unavailable"}`, http.StatusServiceUnavailable)
	},
	"a limit": func(w http.ResponseWriter, _ <-chan struct{}) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, `{"code":"too_many_requests"}`, http.StatusTooManyRequests)
	},
	"a page of a proxy": func(w http.ResponseWriter, _ <-chan struct{}) {
		_, _ = w.Write([]byte("<html>log in</html>"))
	},
	"a call that hangs":      func(_ http.ResponseWriter, over <-chan struct{}) { <-over },
	"a call that is cut off": func(http.ResponseWriter, <-chan struct{}) { panic(http.ErrAbortHandler) },
}

// hurried joins without haste.
func hurried(ctx context.Context, t *testing.T, l language, url string, patience time.Duration) robot {
	r, err := l.join(ctx, t, url, "room:1", "a")
	require.NoError(t, err)
	require.NoError(t, r.hurry(ctx, patience))
	return r
}

// Neither a pause, nor a Retry-After, nor a call's own time limit outlasts what the caller allows.
func TestNoCallOutlastsWhatItsCallerAllows(t *testing.T) {
	const patience = time.Second
	calls := map[string]struct {
		fails func(*http.Request) bool
		make  func(context.Context, *testing.T, language, string) error
	}{
		"join": {func(*http.Request) bool { return true },
			func(ctx context.Context, t *testing.T, l language, url string) error {
				return l.within(ctx, t, url, "room:1", patience)
			}},
		"code": {func(r *http.Request) bool { return r.URL.Query().Has("wait") },
			func(ctx context.Context, t *testing.T, l language, url string) error {
				_, _, err := hurried(ctx, t, l, url, patience).code(ctx, from, 0, func() {})
				return err
			}},
		"done": {func(r *http.Request) bool { return r.Method == http.MethodDelete },
			func(ctx context.Context, t *testing.T, l language, url string) error {
				return hurried(ctx, t, l, url, patience).done(ctx)
			}},
	}
	eachLanguage(t, func(t *testing.T, l language) {
		for silence, keeps := range silences {
			for name, call := range calls {
				t.Run(silence+", "+name, func(t *testing.T) {
					t.Parallel()
					over := make(chan struct{})
					url := fake(t, func(w http.ResponseWriter, r *http.Request) {
						if call.fails(r) {
							keeps(w, over)
							return
						}
						rightly(w, r)
					})
					t.Cleanup(func() { close(over) }) // before the server is closed
					ctx := within(t, 30*time.Second)
					err := call.make(ctx, t, l, url)
					require.Error(t, err)
					require.NoError(t, ctx.Err(), "the client has to end the call itself")
					require.Regexp(t, "deadline exceeded|TimeoutError", err.Error())
				})
			}
		}
	})
}

// The patience of a call is for a server that does not answer. One that has the client wait does answer.
func TestABusyNumberOutlastsThePatienceOfACall(t *testing.T) {
	for _, l := range languages {
		if l.name != "python" { // the others bound the whole wait for a code
			continue
		}
		var asks atomic.Int64
		url := fake(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/expect") && asks.Add(1) < 6 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusConflict)
				_, _ = w.Write([]byte(`{"code":"number_busy"}`))
				return
			}
			rightly(w, r)
		})
		r := hurried(t.Context(), t, l, url, 3*time.Second)
		code, _, err := r.code(t.Context(), from, 0, func() {})
		require.NoError(t, err)
		require.Equal(t, "482913", code)
	}
}
