//go:build long

package server

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestReadinessFollowsAMasterOfTheClusterThatDies(t *testing.T) {
	cluster := redistest.StartClusterWithReplicas(t)
	master, replica := cluster.MasterOf(room.LockKey("integration"))
	r := start(t, config(t, "--redis-url", cluster.URL()))
	a := newSeller(t, r.URL(), "a")
	require.Equal(t, http.StatusOK, a.join().StatusCode)
	readiness(t, a, http.StatusOK)

	known := master.Client().Conn() // else the join may be lost with its master
	t.Cleanup(func() { _ = known.Close() })
	require.NoError(t, known.Set(t.Context(), "{integration}:known", "1", 0).Err())
	require.Equal(t, int64(1), known.Wait(t.Context(), 1, 10*time.Second).Val())
	master.Kill()
	require.NotEqual(t, "ok", readiness(t, a, http.StatusServiceUnavailable)["redis"])
	replica.UntilPromoted()
	promoted := time.Now()
	readiness(t, a, http.StatusOK)
	got := a.ask(http.MethodGet, lockPath+"/status", "")
	require.Equal(t, http.StatusOK, got.StatusCode, "who is ready serves: %s", got.body)
	t.Logf("served %s after the replica had taken over", time.Since(promoted))
	require.Equal(t, http.StatusOK, a.join().StatusCode)
}
