package sms

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// A code takes every successful and every failing way of a message. Then the test searches for it in
// everything that is readable outside of its holder's view.
func TestCodeIsNowhereButBeforeItsHolderAlsoNotInTheStore(t *testing.T) {
	s := newStage(t)
	var logged bytes.Buffer
	registry := prometheus.NewRegistry()
	r := s.replica(Config{Completes: true, Registerer: registry,
		Log: slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}))})
	reported := listen(t, s.rdb)
	out := map[string]string{}
	send := func(name, id string) {
		answer, err := r.send(t, id, "[쿠팡] 인증번호는 ["+canary+"]입니다. call "+canary+name, 0)
		encoded, jsonErr := json.Marshal(answer)
		require.NoError(t, jsonErr)
		out["answer to "+name] = fmt.Sprintf("%s %+v %v", encoded, answer, err)
	}

	send("a match", "m1")
	require.Equal(t, canary, *s.seat(s.a).Messages[0].Code, "its holder sees it")
	send("a repeat", "m1")
	s.ledger.refuse(s.seat(s.b).Fence)
	send("a refused match", "m2")
	send("no lease", "m3")
	r.ledger.receive, r.ledger.judge, r.LedgerWait = away, hangs, 5*time.Millisecond
	s.join(s.a, "a")
	send("a match without the ledger", "m4")
	send("a bad message", "")
	for name, body := range map[string]string{"bad json": `{"text":"` + canary,
		"bad time": `{"message_id":"m5","text":"` + canary + `","sent_at":"` + canary + `"}`} {
		_, err := r.Receive(t.Context(), integration, signed(t, testSecret, time.Now(), []byte(body)), []byte(body))
		require.Error(t, err)
		out["error of "+name] = fmt.Sprintf("%v %+v %#v", err, err, err)
		_, err = r.Receive(t.Context(), integration, signed(t, otherSecret, time.Now(), []byte(body)), []byte(body))
		require.ErrorIs(t, err, ErrSignature)
		out["error of a bad signature on "+name] = fmt.Sprintf("%v %+v", err, err)
	}

	families, err := registry.Gather()
	require.NoError(t, err)
	entries, err := s.engine.ReadJournal(t.Context(), integration, 1000)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	keys := contents(t, s.rdb)
	require.NotEmpty(t, keys["{integration}:texts"], "they are there, and sealed")

	out["log"] = logged.String()
	out["metrics"] = fmt.Sprint(families)
	out["journal"] = fmt.Sprintf("%+v", entries)
	out["ledger"] = fmt.Sprintf("%+v %+v", s.ledger.notes, s.ledger.records)
	out["keys"] = fmt.Sprint(keys)
	out["events"] = reported()
	out["service"] = fmt.Sprintf("%+v %#v", *r.Service, *r.Service)
	_, seats, err := s.engine.Look(t.Context(), integration, s.b)
	require.NoError(t, err)
	out["another's seat"] = fmt.Sprintf("%+v", seats)
	for where, content := range out {
		require.NotEmpty(t, content, where)
		require.NotContains(t, content, canary, where)
	}
}

// listen collects everything that is published until the returned function is called.
func listen(t *testing.T, rdb *redis.Client) func() string {
	t.Helper()
	sub := rdb.PSubscribe(t.Context(), "*")
	_, err := sub.Receive(t.Context())
	require.NoError(t, err)
	var got strings.Builder
	var reading sync.WaitGroup
	reading.Go(func() {
		for m := range sub.Channel(redis.WithChannelSize(1000)) {
			if m.Channel == "over" {
				return
			}
			got.WriteString(m.Payload + "\n")
		}
	})
	return func() string {
		require.NoError(t, rdb.Publish(context.Background(), "over", "").Err())
		reading.Wait()
		require.NoError(t, sub.Close())
		return got.String()
	}
}

// contents reads every key of a store.
func contents(t *testing.T, rdb *redis.Client) map[string]string {
	t.Helper()
	ctx := t.Context()
	names, err := rdb.Keys(ctx, "*").Result()
	require.NoError(t, err)
	found := map[string]string{}
	for _, name := range names {
		var value any
		switch kind := rdb.Type(ctx, name).Val(); kind {
		case "string":
			value, err = rdb.Get(ctx, name).Result()
		case "hash":
			value, err = rdb.HGetAll(ctx, name).Result()
		case "zset":
			value, err = rdb.ZRangeWithScores(ctx, name, 0, -1).Result()
		case "stream":
			value, err = rdb.XRange(ctx, name, "-", "+").Result()
		default:
			require.Fail(t, "a key of another type", "%s %s", name, kind)
		}
		require.NoError(t, err)
		found[name] = fmt.Sprint(value)
	}
	return found
}

var _ Engine = (*room.Engine)(nil)
