package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

func TestHangupHasTheRoomsFileReadAgainAndABadOneChangesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rooms.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("shop:*: {lease: 60s}\n")
	r := startReplica(t, "--rooms", "integration,shop:*", "--rooms-file", path)
	require.EqualValues(t, 60, r.lease("shop:a"))
	for n, again := range []struct {
		text, logged string
		lease        int64
	}{
		{"shop:*: {lease: 30s}\n", "the rooms file was read", 30},
		{"shop:*: {laese: 20s}\n", "do you mean lease?", 30},
		{"shop:*: {lease: 20s}\n", "entries=1", 20},
	} {
		before, err := os.ReadFile(r.log)
		require.NoError(t, err)
		write(again.text)
		r.Signal(syscall.SIGHUP)
		testproc.Until(t, patience, func() error {
			log, err := os.ReadFile(r.log)
			if err != nil || !strings.Contains(string(log[len(before):]), again.logged) {
				return fmt.Errorf("not read: %w\n%s", err, log)
			}
			return nil
		})
		require.Equal(t, again.lease, r.lease(fmt.Sprintf("shop:b%d", n)))
	}
	r.Stop(syscall.SIGTERM)
}

// lease returns the length of a lease that a room grants to a new seller.
func (r *replica) lease(id string) int64 {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/api/"+id+"/lock",
		strings.NewReader(`{"seller_id":"s-1"}`))
	require.NoError(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Session-ID", room.NewSession())
	resp, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Seconds int64 `json:"expires_in"`
	}
	require.NoError(r.t, json.NewDecoder(resp.Body).Decode(&answer))
	return answer.Seconds
}
