package examples

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

func TestRobotsTakeTheirCode(t *testing.T) { tryRobots(t, ofTwoLanguages(t)...) }

func TestRobotsSayThatATurnIsOverWithoutACode(t *testing.T) {
	tryRobotsWithoutACode(t, ofTwoLanguages(t)...)
}

func TestRobotsStopWhereNoCodeIsOnItsWay(t *testing.T) {
	tryRobotsWhoseTurnIsEnded(t, ofTwoLanguages(t)...)
}

// tryRobots lets each robot wait behind a seller whose code may still come, ask, and get its own code,
// although its connection breaks while it waits.
func tryRobots(t *testing.T, languages ...language) {
	base := serve(t, "--sms-webhook-secret", secret, "--sms-quarantine", "2s")
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			command, ok := l.robot(t)
			if !ok {
				return
			}
			room := base + "/api/room:" + l.name
			firstAsks(t, room)
			proxy, broken := breaking(t, base)
			robot := startRobot(t, proxy, l.name, command)
			require.Equal(t, "waiting 1", robot.next())
			require.Equal(t, http.StatusOK, lock(t, http.MethodDelete, room+"/lock"))
			line := robot.next()
			for line == "waiting 1" {
				line = robot.next()
			}
			fence, locked := strings.CutPrefix(line, "locked ")
			require.True(t, locked, line)
			require.Contains(t, robot.next(), "asked")
			require.JSONEq(t, `{"result":"matched","ticket":2,"fence":`+fence+`}`,
				carrier(t, room, "m-1", "배송이 시작되었습니다"), "a message without a code ends nothing")
			require.JSONEq(t, `{"result":"matched","ticket":2,"fence":`+fence+`}`,
				carrier(t, room, "m-2", "인증번호 482913"))
			require.Equal(t, "code 482913", robot.next())
			require.Equal(t, "completed", robot.next())
			code, wrong := robot.end()
			require.Zero(t, code, wrong)
			require.Greater(t, broken.Load(), int32(3), "calls for messages")
		})
	}
}

func tryRobotsWithoutACode(t *testing.T, languages ...language) {
	base := serve(t, "--sms-webhook-secret", secret, "--lease", "3s")
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			command, ok := l.robot(t)
			if !ok {
				return
			}
			requireNoCode(t, startRobot(t, base, l.name, command), "expired", func() {})
		})
	}
}

// tryRobotsWhoseTurnIsEnded lets another program end a robot's turn as completed with the robot's session,
// while no message is on its way.
func tryRobotsWhoseTurnIsEnded(t *testing.T, languages ...language) {
	base := serve(t)
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			command, ok := l.robot(t)
			if !ok {
				return
			}
			proxy, session := overheard(t, base)
			requireNoCode(t, startRobot(t, proxy, l.name, command), "completed", func() {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete,
					base+"/api/room:"+l.name+"/lock?reason=completed", nil)
				require.NoError(t, err)
				r.Header.Set("X-Session-ID", session())
				require.Equal(t, http.StatusOK, send(t, r))
			})
		})
	}
}

// requireNoCode runs happen once a robot has asked, and requires that the robot stops and reports that no
// code will come.
func requireNoCode(t *testing.T, robot reading, outcome string, happen func()) {
	t.Helper()
	require.Regexp(t, `^locked \d+$`, robot.next())
	require.Contains(t, robot.next(), "asked")
	happen()
	code, wrong := robot.end()
	require.Equal(t, 1, code)
	require.Contains(t, wrong, "no code: the turn is over ("+outcome+")")
}

// overheard returns the address of a proxy to a server, and a function that returns the robot's session,
// which the proxy reads.
func overheard(t *testing.T, base string) (address string, session func() string) {
	to, err := url.Parse(base)
	require.NoError(t, err)
	var heard atomic.Value
	next := httputil.NewSingleHostReverseProxy(to)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard.Store(r.Header.Get("X-Session-ID"))
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() string { return heard.Load().(string) }
}

func startRobot(t *testing.T, base, name string, command []string) reading {
	cmd := exec.Command(command[0], append(command[1:], "robot")...)
	cmd.Env = append(os.Environ(), "WAITROOM="+base, "ROOM=room:"+name)
	return output(t, cmd)
}

// firstAsks lets the first seller hold the lock and ask for a code. After it has left, the number stays busy
// for a while.
func firstAsks(t *testing.T, room string) {
	var locked, expecting struct {
		Status string
		Fence  int64
	}
	require.NoError(t, json.Unmarshal([]byte(answer(t, room+"/lock", `{"seller_id":"first","asks":true}`)),
		&locked))
	require.NoError(t, json.Unmarshal([]byte(answer(t, room+"/lock/expect",
		`{"fence":`+strconv.FormatInt(locked.Fence, 10)+`}`)), &expecting))
	require.Equal(t, "expecting", expecting.Status)
}

// answer returns the answer to the first seller's request.
func answer(t *testing.T, url, body string) string {
	return posted(t, url, http.Header{"X-Session-Id": {first}, "Content-Type": {"application/json"}}, body)
}

// carrier posts a signed message, and returns the answer.
func carrier(t *testing.T, room, id, text string) string {
	signer, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	now := time.Now()
	body := fmt.Sprintf(`{"message_id":%q,"from":"15881234","text":%q,"sent_at":%q}`, id, text,
		now.Format(time.RFC3339Nano))
	signature, err := signer.Sign(id, now, []byte(body))
	require.NoError(t, err)
	return posted(t, room+"/sms", http.Header{"Webhook-Id": {id},
		"Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)}, "Webhook-Signature": {signature}}, body)
}

func posted(t *testing.T, url string, header http.Header, body string) string {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header = header
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

// breaking is a proxy in front of a server. Once a robot has asked, its first call for messages gets no
// answer, its second gets an error that asks for a retry, and its third is answered as if the ledger had not
// yet judged the message that ended the turn.
func breaking(t *testing.T, base string) (address string, calls *atomic.Int32) {
	to, err := url.Parse(base)
	require.NoError(t, err)
	calls = &atomic.Int32{}
	var asked atomic.Bool
	next := httputil.NewSingleHostReverseProxy(to)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/expect") {
			asked.Store(true)
		}
		if strings.HasSuffix(r.URL.Path, "/messages") && asked.Load() {
			switch calls.Add(1) {
			case 1:
				panic(http.ErrAbortHandler)
			case 2:
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			case 3:
				_, _ = io.WriteString(w, `{"room":"room","fence":1,"status":"ended","messages":[],"judging":true}`)
				return
			}
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}
