//go:build long

package server

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

func TestReadinessFollowsTheMasterOfTheIndexThatDies(t *testing.T) {
	cluster := redistest.StartClusterWithReplicas(t)
	master, replica := cluster.MasterOf("{waitroom}:due")
	r := start(t, config(t, "--redis-url", cluster.URL()))
	a := newSeller(t, r.URL(), "a")
	require.Equal(t, http.StatusOK, a.join().StatusCode)
	readiness(t, a, http.StatusOK)

	known := master.Client().Conn() // else the join may be lost with its master
	t.Cleanup(func() { _ = known.Close() })
	require.NoError(t, known.Set(t.Context(), "{waitroom}:known", "1", 0).Err())
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

// A replica with a master that hangs serves the rooms of the others.
func TestReplicaStaysReadyWhileAnyOtherMasterOfTheClusterHangs(t *testing.T) {
	cluster := redistest.StartClusterWith(t, redistest.Config{Args: []string{
		"--cluster-require-full-coverage", "no", "--cluster-node-timeout", "60000"}})
	r := start(t, config(t, "--redis-url", cluster.URL(), "--rooms", "r:*"))
	a := newSeller(t, r.URL(), "a")
	index, err := cluster.Owner("{waitroom}:due")
	require.NoError(t, err)
	var hangs, serves string
	var hanging *redistest.Server
	for i := 0; hangs == "" || serves == ""; i++ {
		id := fmt.Sprint("r:", i)
		owner, err := cluster.Owner(room.LockKey(room.ID(id)))
		require.NoError(t, err)
		if owner == index {
			serves = id
		} else {
			hangs, hanging = id, owner
		}
	}
	require.NotContains(t, readiness(t, a, http.StatusOK), "masters")
	hanging.Pause()
	testproc.Until(t, patience, func() error {
		if got := readiness(t, a, http.StatusOK)["masters"]; got != "unavailable" {
			return fmt.Errorf("masters: %v", got)
		}
		return nil
	})
	join := func(id string) reply {
		return a.ask(http.MethodPost, "/api/"+id+"/lock", `{"seller_id":"a"}`, "Content-Type", "application/json")
	}
	require.Equal(t, http.StatusOK, join(serves).StatusCode)
	for range 20 { // over several probes
		got := a.ask(http.MethodGet, "/readyz", "")
		require.Equal(t, http.StatusOK, got.StatusCode, got.body)
		time.Sleep(100 * time.Millisecond)
	}
	hanging.Resume()
	testproc.Until(t, patience, func() error {
		if got := readiness(t, a, http.StatusOK)["masters"]; got != nil {
			return fmt.Errorf("masters: %v", got)
		}
		return nil
	})
	require.Equal(t, http.StatusOK, join(hangs).StatusCode)
}
