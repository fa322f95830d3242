package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// A balancer that hears nothing of a replica cuts the sockets that the replica has.
func TestProbesAreAnsweredWhenSocketsHaveTakenTheOpenFiles(t *testing.T) {
	few := exec.Command("bash", "-c", `ulimit -n 256 && exec "$0" "$@"`, program)
	r := startAs(t, few, "--redis-url", redistest.Start(t).URL())
	require.Contains(t, testproc.LogTail(r.log), "few files may be open")
	dial := func() (*websocket.Conn, *http.Response) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		conn, resp, _ := websocket.Dial(ctx, r.url+"/api/integration/ws",
			&websocket.DialOptions{HTTPHeader: http.Header{"X-Session-Id": {room.NewSession()}}})
		if conn != nil {
			t.Cleanup(func() { _ = conn.CloseNow() })
		}
		return conn, resp
	}
	var open []*websocket.Conn
	for {
		conn, resp := dial()
		if conn == nil {
			require.NotNil(t, resp, "the refusal after %d sockets has an answer", len(open))
			require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
			require.Equal(t, "2", resp.Header.Get("Retry-After"))
			require.Equal(t, "application/problem+json", resp.Header.Get("Content-Type"))
			break
		}
		open = append(open, conn)
		go func() { // reading answers pings
			for err := error(nil); err == nil; _, _, err = conn.Read(t.Context()) {
			}
		}()
		require.Less(t, len(open), 256)
	}
	require.Greater(t, len(open), 100)
	probe := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	for range 20 {
		if conn, _ := dial(); conn != nil {
			require.Fail(t, "a socket is open on one of the last files")
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			resp, err := probe.Get(r.url + path)
			require.NoError(t, err)
			_ = resp.Body.Close()
			require.Equal(t, http.StatusOK, resp.StatusCode, path)
		}
	}
	for path, want := range map[string]string{
		"/": `"code":"overloaded"`, "/api/integration/lock": `"code":"overloaded"`, "/nothere": `"code":"overloaded"`,
		"/metrics": `"code":"overloaded"`, "/rooms/integration": `data-state="error"`,
	} {
		resp, err := probe.Get(r.url + path)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		require.NoError(t, err)
		require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode, path)
		require.Equal(t, "2", resp.Header.Get("Retry-After"), path)
		require.Contains(t, string(body), want, path)
	}
	for _, conn := range open[:20] {
		_ = conn.CloseNow()
	}
	testproc.Until(t, patience, func() error {
		if conn, _ := dial(); conn == nil {
			return fmt.Errorf("no socket is let in though files are free again")
		}
		return nil
	})
}
