package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const (
	agentName     = "kim"
	agentPassword = "an agent's password"
)

// supportUsers lets the agent sign in.
func supportUsers(t *testing.T) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(agentPassword), bcrypt.MinCost)
	require.NoError(t, err)
	return agentName + ":" + string(hash)
}

// agent is a member of support that is signed in.
type agent struct {
	t    *testing.T
	base string
	http *http.Client
}

func newAgent(t *testing.T, base string) *agent {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	a := &agent{t: t, base: base, http: &http.Client{Jar: jar, Transport: transport, Timeout: patience}}
	resp, err := a.http.PostForm(base+"/support/sign-in",
		url.Values{"username": {agentName}, "password": {agentPassword}})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, "/support", resp.Request.URL.Path)
	require.NoError(t, resp.Body.Close())
	return a
}

// token is the credential of the sign-in.
func (a *agent) token() string {
	a.t.Helper()
	u, err := url.Parse(a.base)
	require.NoError(a.t, err)
	for _, cookie := range a.http.Jar.Cookies(u) {
		if cookie.Name == "waitroom_support" {
			return cookie.Value
		}
	}
	require.Fail(a.t, "it is not signed in")
	return ""
}

// get returns an answer, with its header.
func (a *agent) get(path string) string {
	a.t.Helper()
	resp, err := a.http.Get(a.base + path)
	require.NoError(a.t, err)
	return a.read(resp)
}

// act runs an action, well or badly.
func (a *agent) act(path, body string) string {
	a.t.Helper()
	resp, err := a.http.Post(a.base+path, "application/json", strings.NewReader(body))
	require.NoError(a.t, err)
	return a.read(resp)
}

func (a *agent) read(resp *http.Response) string {
	a.t.Helper()
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(a.t, err)
	var header strings.Builder
	require.NoError(a.t, resp.Header.Write(&header))
	return resp.Status + "\n" + header.String() + string(body)
}

// watched collects every frame that a socket of support's received.
type watched struct {
	mu  sync.Mutex
	all strings.Builder
}

func (w *watched) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

// watch opens a socket and reads it until the test ends.
func (a *agent) watch(path string) *watched {
	a.t.Helper()
	header := http.Header{"Origin": {a.base}, "Cookie": {"waitroom_support=" + a.token()}}
	conn, _, err := websocket.Dial(a.t.Context(), a.base+path, &websocket.DialOptions{HTTPHeader: header})
	require.NoError(a.t, err)
	conn.SetReadLimit(-1)
	w, done := &watched{}, make(chan struct{})
	go func() {
		defer close(done)
		for {
			_, frame, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			w.mu.Lock()
			w.all.Write(append(frame, '\n'))
			w.mu.Unlock()
		}
	}()
	a.t.Cleanup(func() { _ = conn.CloseNow(); <-done })
	return w
}

// await returns when the socket has received all these words.
func (w *watched) await(t *testing.T, words ...string) {
	t.Helper()
	testproc.Until(t, patience, func() error {
		text := w.text()
		for _, word := range words {
			if !strings.Contains(text, word) {
				return errors.New("it was not sent " + word)
			}
		}
		return nil
	})
}

// seen returns everything that the desk shows: pages in both languages, answers, exports and refusals.
func (a *agent) seen(seller string, fence int64, messageID string) map[string]string {
	a.t.Helper()
	out := map[string]string{}
	for _, path := range []string{"/support", "/support/" + oneRoom, "/support/" + oneRoom + "/history",
		"/support/-/sellers/" + seller,
		"/support/-/audit", "/support/-/deliveries"} {
		for _, lang := range []string{"ko", "en"} {
			out["desk: page "+path+" "+lang] = a.get(path + "?lang=" + lang)
		}
	}
	for _, path := range []string{"/history", "/history?format=csv", "/history?seller=" + seller,
		"/timeline?seller=" + seller} {
		out["desk: "+path] = a.get("/api/support/" + oneRoom + path)
	}
	for _, body := range []string{"{}", `{"reason":"x","fence":1}`, `{"reason":"x","fence":1,"message_id":"` +
		messageID + `"}`} {
		for _, verb := range []string{"release", "assign", "remove"} {
			out["desk: "+verb+" "+body] = a.act("/api/support/"+oneRoom+"/"+verb, body)
		}
	}
	return out
}
