package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
)

// protocol is a program that speaks the protocol by itself: one JSON object a line.
type protocol struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Scanner
}

type answered struct {
	ID     json.Number
	Result json.RawMessage
	Error  *struct{ Code int }
}

func (p *protocol) send(line string) {
	p.t.Helper()
	_, err := io.WriteString(p.in, line+"\n")
	require.NoError(p.t, err)
}

// answer returns the answer to a request; each line in between is a message of the protocol too.
func (p *protocol) answer(id string) (m answered) {
	p.t.Helper()
	for p.out.Scan() {
		m = answered{}
		require.NoError(p.t, json.Unmarshal(p.out.Bytes(), &m), "standard output has the protocol alone")
		if m.ID.String() == id {
			return m
		}
	}
	p.t.Fatal("the output ended without an answer to " + id)
	return m
}

// The test speaks JSON-RPC itself, without the SDK, and makes mistakes.
func TestAgentToolsSpeakTheProtocolOnStandardInputAndOutput(t *testing.T) {
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	var problems bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run([]string{"mcp", "--url", "http://127.0.0.1:1", "--token", "hush-hush"}, in, out, &problems)
		_ = out.Close()
	}()
	p := &protocol{t: t, in: theirs, out: bufio.NewScanner(ours)}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26",` +
		`"capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`)
	require.Contains(t, string(p.answer("1").Result), `"name":"waitroom"`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	var list struct {
		Tools []struct{ Name, Description string }
	}
	require.NoError(t, json.Unmarshal(p.answer("2").Result, &list))
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		require.NotEmpty(t, tool.Description)
	}
	require.ElementsMatch(t, []string{"join", "wait_for_turn", "ask_for_code", "receive_code", "reject_code", "done",
		"leave"}, names)
	p.send(`{"jsonrpc":"2.0","id":3,"method":"no/such/method"}`)
	require.NotNil(t, p.answer("3").Error)
	p.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"no_such_tool"}}`)
	require.NotNil(t, p.answer("4").Error)
	p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"join","arguments":{"room":7}}}`)
	require.NotNil(t, p.answer("5"))
	p.send(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"leave","arguments":{"room":"a"}}}`)
	require.Contains(t, string(p.answer("6").Result), `"isError":true`)
	p.send("no JSON")
	require.Equal(t, -32700, p.answer("").Error.Code)
	for _, line := range []string{`{"jsonrpc":"2.0"}`, `null`, `[]`, `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`,
		`{"jsonrpc":"1.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"method":5}`} {
		p.send(line)
		require.Equal(t, -32600, p.answer("").Error.Code, line)
	}
	p.send("")
	p.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	require.Nil(t, p.answer("7").Error, "the connection goes on")
	require.NoError(t, theirs.Close())
	require.Zero(t, <-code, problems.String())
	require.Empty(t, problems.String())
}

// tool calls a tool with no arguments, and returns its result.
func (p *protocol) tool(id, name string) string {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `"}}`)
	return string(p.answer(id).Result)
}

// The portal's program writes a new token into the file before each join. No token lives as long as its turn.
func TestAgentsTokenMayExpireAfterItsJoin(t *testing.T) {
	secret := strings.Repeat("hush", 8)
	r := startReplica(t, "--seller-auth", "jwt", "--seller-jwt-secret", secret, "--sms-quarantine", "0s")
	file := filepath.Join(t.TempDir(), "token")
	prove := func(life time.Duration) (token string) {
		token = portaltest.Sign(t, jwt.SigningMethodHS256, []byte(secret), "",
			portaltest.For("s-1").With("exp", float64(time.Now().Add(life).UnixMilli())/1000))
		require.NoError(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
		return token
	}
	place := func(token string) (status int, text string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/api/integration/lock/status", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
	prove(-time.Second) // of an earlier turn
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	var problems bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run([]string{"mcp", "--url", r.url, "--room", "integration", "--token-file", file}, in, out, &problems)
		_ = out.Close()
	}()
	p := &protocol{t: t, in: theirs, out: bufio.NewScanner(ours)}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26",` +
		`"capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`)
	p.answer("1")
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, id := range []string{"2", "3"} {
		token := prove(5 * time.Second)
		require.Contains(t, p.tool(id, "join"), "your_turn")
		require.Eventually(t, func() bool { status, _ := place(token); return status == http.StatusUnauthorized },
			patience, 100*time.Millisecond)
		require.Contains(t, p.tool(id+"0", "wait_for_turn"), "your_turn")
		require.Contains(t, p.tool(id+"1", "ask_for_code"), "press_now")
		if id == "2" {
			require.Contains(t, p.tool(id+"2", "done"), "completed")
		}
	}
	require.NoError(t, theirs.Close())
	require.Zero(t, <-code, problems.String())
	_, text := place(prove(time.Minute))
	require.Contains(t, text, `"outcome":"cancelled"`, "the place has ended with its program")
}

// Without a language, the server answers in Korean.
func TestAgentToolsAskTheServerForEnglish(t *testing.T) {
	asked := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	for _, args := range [][]string{{}, {"--token", "hush-hush"}} {
		c, err := agentConfig(append([]string{"--url", server.URL}, args...))
		require.NoError(t, err)
		_, err = c.Client.Join(t.Context(), "integration", "s-1")
		require.Error(t, err)
		header := <-asked
		require.Equal(t, "en", header.Get("Accept-Language"))
		require.Equal(t, len(args) > 0, header.Get("Authorization") == "Bearer hush-hush")
	}
}

func TestAgentToolsNameAWrongSetting(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("hush-hush\n"), 0o600))
	for wrong, args := range map[string][]string{
		"WAITROOM_URL (--url) is not set":    {},
		"want one such as":                   {"--url", "waitroom.example"},
		`"serve" is no flag of waitroom mcp`: {"--url", "http://127.0.0.1:1", "serve"},
		"set one of them":                    {"--url", "http://127.0.0.1:1", "--token", "hush-hush", "--token-file", token},
		"--token-file":                       {"--url", "http://127.0.0.1:1", "--token-file", token + "x"},
		"is empty":                           {"--url", "http://127.0.0.1:1", "--token-file", os.DevNull},
		"-no-such":                           {"--no-such", "x"},
	} {
		var out, problems bytes.Buffer
		require.Equal(t, 1, run(append([]string{"mcp"}, args...), strings.NewReader(""), &out, &problems))
		require.Contains(t, problems.String(), wrong)
		require.NotContains(t, problems.String(), "hush-hush")
		require.Empty(t, out.String())
	}
	t.Setenv("WAITROOM_URL", "http://127.0.0.1:1")
	t.Setenv("WAITROOM_TOKEN_FILE", token)
	t.Setenv("WAITROOM_ROOM", "stock")
	c, err := agentConfig(nil)
	require.NoError(t, err)
	require.True(t, c.Proven)
	require.Equal(t, "stock", c.Room)
	var out bytes.Buffer
	require.Zero(t, run([]string{"mcp", "--help"}, strings.NewReader(""), &out, io.Discard))
	require.Contains(t, out.String(), "waitroom mcp --url URL")
}
