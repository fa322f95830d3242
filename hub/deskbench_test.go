package hub_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const (
	benchWaiters  = 10_000
	benchWatchers = 50
	benchRate     = 20 // changes a second
	benchSeconds  = 10
)

// BenchmarkFiftyWatchersOfALineOfTenThousand prints the bytes that a change costs each watcher, and the
// processor time of fifty watchers as a share of one core. Beside it stands the time of the same changes
// without watchers.
func BenchmarkFiftyWatchersOfALineOfTenThousand(b *testing.B) {
	registry := prometheus.NewRegistry()
	r := start(b, redistest.Start(b).Client(), room.Config{Lease: 10 * time.Minute},
		hub.Config{Registerer: registry})
	ids := make([]string, 0, benchWaiters)
	for _, id := range sessions(benchWaiters + 1) {
		join(b, r.Engine, id)
		ids = append(ids, id)
	}
	change := func() {
		tick := time.NewTicker(time.Second / benchRate)
		defer tick.Stop()
		for range benchRate * benchSeconds / 2 {
			<-tick.C
			leave(b, r.Engine, ids[0], room.Completed)
			<-tick.C
			join(b, r.Engine, ids[0])
			ids = append(ids[1:], ids[0])
		}
	}
	r.dial(ids[0]).untilStatus(room.Locked)
	alone := usedBy(b, change)
	seen := gatherWatchers(b, r.URL+deskPath+string(lobby))
	defer seen.end()
	for b.Loop() {
		watched := usedBy(b, change)
		b.ReportMetric(100*watched, "%core")
		b.ReportMetric(100*(watched-alone), "%core-by-watchers")
	}
	v, err := r.Engine.Roster(context.Background(), lobby)
	require.NoError(b, err)
	seen.until("all", v.Version)
	changes := counted(b, registry, "waitroom_hub_desk_changes_total")
	b.ReportMetric(counted(b, registry, "waitroom_hub_desk_change_bytes_total")/changes,
		"bytes/change/watcher")
	b.ReportMetric(counted(b, registry, "waitroom_hub_desk_resyncs_total"), "resyncs")
	b.ReportMetric(0, "ns/op")
}

// usedBy returns the share of one core that this process used while do ran.
func usedBy(b *testing.B, do func()) float64 {
	used := func() time.Duration {
		var u syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before, began := used(), time.Now()
	do()
	return float64(used()-before) / float64(time.Since(began))
}

// gatherWatchers connects the watchers in another process, and returns once each has received the room.
func gatherWatchers(b *testing.B, url string) *crowd {
	b.Setenv(watchURL, url)
	return gather(b, url, nil)
}

const watchURL = "HUB_BENCH_WATCH"

// watchMain runs the watchers' process.
func watchMain(url string) {
	o := &observer{all: benchWatchers, received: make(map[int64]int)}
	o.missing.Add(benchWatchers)
	for range benchWatchers {
		ws, _, err := websocket.Dial(context.Background(), url, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, "dial:", err)
			os.Exit(1)
		}
		ws.SetReadLimit(-1)
		go o.watch(ws)
	}
	o.missing.Wait()
	o.say("ready", 0)
	select {}
}

func (o *observer) watch(ws *websocket.Conn) {
	first := sync.OnceFunc(o.missing.Done)
	for {
		_, r, err := ws.Reader(context.Background())
		if err != nil {
			return
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return
		}
		switch {
		case bytes.HasPrefix(text, []byte(`{"type":"ping"`)):
			_ = ws.Write(context.Background(), websocket.MessageText, []byte(`{"type":"pong"}`))
		case bytes.HasPrefix(text, []byte(`{"type":"desk"`)):
			first()
		case bytes.HasPrefix(text, []byte(`{"type":"change"`)):
			o.count(number(text, `"version":`))
		}
	}
}
