package clients

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// fileURL returns a file's name in the form of an import.
func fileURL(t *testing.T, path string) string {
	at, err := filepath.Abs(path)
	require.NoError(t, err)
	return "file://" + at
}

// runScript runs a script with the JavaScript client.
func runScript(t *testing.T, url, script string) string {
	script = `import { getEventListeners } from "node:events";
import { inspect } from "node:util";
const { join, resume } = await import("` + fileURL(t, "../../clients/js/waitroom.js") + `");
const url = "` + url + `";
const abort = new AbortController();
const signal = abort.signal;
` + script
	args := []string{"--no-warnings", "--input-type=module", "--eval", script}
	if len(withSockets()) > 0 {
		args = append([]string{"--experimental-websocket"}, args...)
	}
	cmd := exec.CommandContext(within(t, time.Minute), "node", args...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

// runPython runs a script that knows the Python client, and returns what it prints.
func runPython(t *testing.T, script string) string {
	script = "import sys\nsys.path.insert(0, '../../clients/python')\nimport waitroom\n" + script
	out, err := exec.CommandContext(within(t, time.Minute), "python3", "-c", script).CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

// An abort at any time ends the call, and no call leaves a listener on a signal that lives on.
func TestASignalEndsEachCallAndKeepsNoListener(t *testing.T) {
	s := newSite(t, 1)
	for name, script := range map[string]string{
		"while it is shown a state": `
const turn = await join(url, room, "b", { signal });
await turn.wait({ signal, onState: () => abort.abort() }).catch((error) => console.log(error.name));`,
		"while it waits": `
const turn = await join(url, room, "b", { signal });
setTimeout(() => abort.abort(), 1000);
await turn.wait({ signal }).catch((error) => console.log(error.name));`,
	} {
		t.Run(name, func(t *testing.T) {
			room := s.room()
			languages[0].mustJoin(t, s, room, "a")
			out := runScript(t, s.proxy.URL, `const room = "`+room+`";`+script+
				`console.log(getEventListeners(signal, "abort").length);`)
			require.Equal(t, "AbortError\n0", out)
		})
	}
}

// Node says by "error" alone that a socket could not open. The turn comes at the fifth look, and a look comes
// each second: by then, the client has given sockets up. What it has given up keeps no process alive.
func TestWhereNoSocketComesThroughAProgramHasItsTurnAndEnds(t *testing.T) {
	if len(withSockets()) == 0 {
		t.Skip("this Node has no WebSocket")
	}
	for name, socket := range map[string]struct {
		handler http.HandlerFunc
		tried   int64
	}{
		"refused": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }, 2},
		"cut":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 2},
		"silent":  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var looks, tried, triedThen, hanging, hangingThen atomic.Int64
			url := fake(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/ws"):
					tried.Add(1)
					hanging.Add(1)
					defer hanging.Add(-1)
					socket.handler(w, r)
				case strings.HasSuffix(r.URL.Path, "/status") && looks.Add(1) < 5:
					_, _ = w.Write([]byte(`{"status":"locked","me":{"status":"waiting"}}`))
				case strings.HasSuffix(r.URL.Path, "/status"):
					triedThen.Store(tried.Load())
					hangingThen.Store(hanging.Load())
					fallthrough
				default:
					rightly(w, r)
				}
			})
			require.Equal(t, "completed", runScript(t, url, `
const turn = await join(url, "room:1", "a");
await turn.wait();
await turn.done();
console.log(turn.state.outcome);`))
			require.Equal(t, socket.tried, triedThen.Load())
			require.Equal(t, socket.tried, tried.Load())
			require.Equal(t, name == "silent", hangingThen.Load() > 0)
		})
	}
}

// A call that hangs hides no turn that the socket has brought meanwhile.
func TestAStateFromASocketEndsACallThatHangs(t *testing.T) {
	if len(withSockets()) == 0 {
		t.Skip("this Node has no WebSocket")
	}
	var looks atomic.Int64
	hangs := make(chan struct{})
	url := fake(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/ws"):
			<-hangs
			conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"waitroom"}})
			if err != nil {
				return
			}
			defer func() { _ = conn.CloseNow() }()
			_ = conn.Write(r.Context(), websocket.MessageText, []byte(`{"type":"state","status":"locked","fence":7}`))
			_, _, _ = conn.Read(r.Context())
		case strings.HasSuffix(r.URL.Path, "/status") && looks.Add(1) > 1:
			if looks.Load() == 2 {
				close(hangs)
			}
			<-r.Context().Done()
		default:
			_, _ = w.Write([]byte(`{"status":"waiting","me":{"status":"waiting"}}`))
		}
	})
	require.Equal(t, "locked 0", runScript(t, url, `
const turn = await join(url, "room:1", "a", { signal });
await turn.wait({ signal });
console.log(turn.state.status, getEventListeners(signal, "abort").length);`))
	require.EqualValues(t, 2, looks.Load())
}

// Polls leave no listener either, and a printed turn has no secret.
func TestATurnThatPollsKeepsNoListener(t *testing.T) {
	url := waitsBehind(t, `{"status":"locked","me":{"status":"waiting"}}`, rightly)
	out := runScript(t, url, `
globalThis.WebSocket = undefined;
const turn = await join(url, "room:1", "a", { signal });
setTimeout(() => console.log(getEventListeners(signal, "abort").length), 3500);
setTimeout(() => abort.abort(), 4000);
await turn.wait({ signal }).catch((error) => console.log(error.name));
console.log(getEventListeners(signal, "abort").length, inspect(turn).includes(turn.session));`)
	require.Equal(t, "1\nAbortError\n0 false", out)
}

// Node 18 has no global crypto, and a browser on a plain http page has none with randomUUID.
func TestSessionIsAUUIDWithoutTheGlobalFunctionForIt(t *testing.T) {
	s := newSite(t, 1)
	for name, without := range map[string]string{
		"Node 18":        `delete globalThis.crypto;`,
		"a page by http": `Object.defineProperty(globalThis, "crypto", { value: { getRandomValues: (bytes) => bytes.fill(255) } });`,
	} {
		t.Run(name, func(t *testing.T) {
			out := runScript(t, s.proxy.URL, without+`
const turn = await join(url, "`+s.room()+`", "a", { mayWait: false });
await turn.wait();
setTimeout(() => abort.abort(), 500); // no code comes
await turn.code({ signal }).catch((error) => console.log(error.name));
await turn.done();
console.log(turn.state.status, turn.session);`)
			require.Regexp(t, `^AbortError\nended [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, out)
		})
	}
}

// A failure that no retry can repair is returned at once.
func TestWhatIsWronglySetUpIsAnError(t *testing.T) {
	out := runScript(t, "http://user:secret@127.0.0.1:1", `
await join(url, "room:1", "a").catch((error) => console.log(error.name));
await join("localhost:1", "room:1", "a").catch((error) => console.log(error.name));
await join("http://127.0.0.1:1", "room:1", "a", { session: "세션" }).catch((error) => console.log(error.name));`)
	require.Equal(t, "TypeError\nTypeError\nTypeError", out)
	out = runPython(t, `
for server, session in (("http://bad host", None), ("http://127.0.0.1:1", "세션"), ("127.0.0.1:1", None)):
    try:
        waitroom.join(server, "room:1", "a", session=session)
    except Exception as error:
        print(type(error).__name__)
try:
    waitroom.join("http://127.0.0.1:1", "room:1", "a", patience=1)
except TimeoutError as error:
    print(error)
print(waitroom.Code("482913", "code 482913", "m-1", "", False, 1))`)
	require.Equal(t, "InvalidURL\nUnicodeEncodeError\nValueError\nwaitroom does not answer\n"+
		"Code(message_id='m-1', received_at='', late=False, fence=1)", out)
}
