package faults

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// slowCrowd makes a new observation of a room only at an interval, and always shows its lock as just granted.
func slowCrowd(ctx context.Context, client *redis.Client, r *Run, every time.Duration) {
	room := r.rooms[0]
	for version := int64(1); ctx.Err() == nil; version++ {
		if err := client.HSet(ctx, "{"+room+"}:state", "room",
			fmt.Sprintf(`{"epoch":1,"version":%d}`, version)).Err(); err == nil {
			r.history.Add(Record{Kind: KindFrame, Room: room, Epoch: 1, Version: version})
		}
		_ = client.Set(ctx, "{"+room+"}:lock", "holder", r.plan.lease())
		_ = pause(ctx, every)
	}
}

func TestAPowerCutTakesAnObservedChangeHoweverSeldomThatIs(t *testing.T) {
	const last = 100 * time.Millisecond
	r := newRun(t, Plan{Name: "power-cut"}, 1, "", t.TempDir())
	var err error
	r.history, err = NewHistory(filepath.Join(r.dir, "history.jsonl"))
	require.NoError(t, err)
	r.startStore()
	ctx, cancel := context.WithCancel(t.Context())
	client, gone := r.store.master("").Client(), make(chan struct{})
	go func() {
		defer close(gone)
		slowCrowd(ctx, client, r, 4*last)
	}()
	done := cutPower(last).Do(t.Context(), r)
	cancel()
	<-gone
	require.NoError(t, done)
	records, err := r.history.Close()
	require.NoError(t, err)
	for _, rec := range records {
		if rec.Kind == KindFault {
			require.Contains(t, rec.Detail, "behind what was observed: faults:mixed")
			return
		}
	}
	require.Fail(t, "no fault")
}
