package hub_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// The pool has one writer, so a write that blocked would delay all other sockets.
func TestASocketThatNeverReadsDelaysNoOtherAndIsClosed(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{
		Writers: 1, Coalesce: time.Millisecond, WriteTimeout: 300 * time.Millisecond, WriteBuffer: 1,
		Registerer: registry})
	deaf := rawDial(t, r, 1, "")
	holder, watcher := room.NewSession(), r.dial("")
	closed := func() float64 { return counted(t, registry, "waitroom_hub_slow_closes_total") }
	version := int64(0)
	for changes := 0; closed() == 0; changes++ {
		require.Less(t, changes, 20_000, "the deaf socket is never noticed")
		join(t, r.Engine, holder)
		st := leave(t, r.Engine, holder, room.Cancelled)
		version = st.Version
		watcher.until("the change", func(st state) bool { return st.Version >= version })
	}
	require.Equal(t, 4002, rawClose(t, deaf), "the one that reads in the end learns why")
	_, err := r.Engine.Pause(context.Background(), lobby, "", true, room.Action{})
	require.NoError(t, err)
	watcher.until("the pause", func(st state) bool { return st.Paused })
}

// counted returns the value of a counter without labels.
func counted(t testing.TB, g prometheus.Gatherer, name string) float64 {
	t.Helper()
	families, err := g.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	require.Fail(t, "no metric "+name)
	return 0
}
