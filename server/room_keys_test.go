package server

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/server/doctor"
)

func diagnoseRoom(t *testing.T, cfg Config, id string) string {
	var out bytes.Buffer
	doctor.WriteFindings(&out, Diagnose(t.Context(), cfg, doctor.Only{Room: id}))
	return out.String()
}

func TestDoctorPrintsTheKeysOfARoomWithoutSessions(t *testing.T) {
	redis := redistest.StartKept(t)
	cfg := sound(t, "--redis-url", redis.URL(), "--public-url", "", "--rooms", "a,b")
	report := func(id string) string { return diagnoseRoom(t, cfg, id) }
	require.Contains(t, report("a"), "hint   redis     Redis has no key of the room a.")

	require.Contains(t, diagnoseRoom(t, cfg, "no room"), "WRONG  redis     ")

	r := start(t, cfg)
	holder, waiter := newSeller(t, r.URL(), "s-1"), newSeller(t, r.URL(), "s-2")
	holder.joinRoom("a", "")
	waiter.joinRoom("a", "")
	text := report("a")
	for _, want := range []string{`"seller_id":"s-1","ticket":1,"fence":`, `room {"epoch":`,
		"ok     queue     a zset with 1 entries", "ok     places    a hash with 2 entries", "; expires in 2m"} {
		require.Contains(t, text, want)
	}
	for _, s := range []*seller{holder, waiter} {
		require.NotContains(t, text, s.session)
	}
	require.NotContains(t, text, "settings")
	require.NotContains(t, report("b"), "s-1")
}
