package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/server/doctor"
)

func TestReplicasWithDifferentSettingsSaySo(t *testing.T) {
	store := redistest.Start(t).URL()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	require.NoError(t, os.WriteFile(file, []byte("integration: {name: Counter}\n"), 0o600))
	args := []string{"--redis-url", store, "--lease", "120s", "--sms-webhook-secret", smsSecret, "--rooms-file",
		file}
	one, log := logged(t, args...)
	same := start(t, config(t, args...))
	a := newSeller(t, one.URL(), "a")
	checks := func() map[string]any { return a.ask("GET", "/readyz", "").json["checks"].(map[string]any) }
	metrics := func(lines ...string) bool {
		body := a.ask("GET", "/metrics", "").body
		for _, line := range lines {
			if !strings.Contains(body, line+"\n") {
				return false
			}
		}
		return true
	}
	require.Eventually(t, func() bool { // both have written
		return len(must(one.store.Client.HGetAll(t.Context(), "{waitroom}:settings").Result())) == 2
	}, patience, 10*time.Millisecond)
	require.NotContains(t, checks(), "settings")
	require.True(t, metrics(`waitroom_settings_differ{setting="lease"} 0`))

	other := config(t, "--redis-url", store, "--lease", "30s", "--sms-webhook-secret", ownSecret, "--database-url",
		"sqlite:"+filepath.Join(t.TempDir(), "another.db"))
	odd := start(t, other)
	require.Eventually(t, func() bool { return checks()["settings"] == "differ" }, patience, 10*time.Millisecond)
	require.Equal(t, http.StatusOK, a.ask("GET", "/readyz", "").StatusCode)
	require.True(t, metrics(`waitroom_settings_differ{setting="lease"} 1`,
		`waitroom_settings_differ{setting="sms-webhook-secret"} 1`, `waitroom_settings_differ{setting="rooms-file"} 1`,
		`waitroom_settings_differ{setting="database"} 1`, `waitroom_settings_differ{setting="away-after"} 0`))
	for _, line := range []string{"lease is 2m here and 30s in ", "sms-webhook-secret is another one in ",
		"rooms-file is another one in ", "database is another one in "} {
		require.Equal(t, 1, strings.Count(log.String(), line), log.String())
	}
	for _, secret := range []string{smsSecret, ownSecret} {
		require.NotContains(t, log.String(), secret)
	}
	require.Equal(t, "database, lease, rooms-file, sms-webhook-secret", one.settings.Differing())
	require.Equal(t, map[string]bool{"lease is 30s here and 2m in": true,
		"sms-webhook-secret is another one in": true, "rooms-file is another one in": true, "database is another one in": true}, settingsFound(t, other))

	require.NoError(t, odd.stop(t))
	require.Eventually(t, func() bool { return checks()["settings"] == nil }, patience, 10*time.Millisecond)
	require.Contains(t, log.String(), "replicas have the same settings again")
	require.Eventually(t, func() bool { return same.settings.Differing() == "" }, patience, 10*time.Millisecond)
}

// settingsFound returns what the doctor says about settings of other replicas, without their names.
func settingsFound(t *testing.T, cfg Config) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, f := range Diagnose(t.Context(), cfg, doctor.Only{}) {
		if text, _, ok := strings.Cut(f.Text, " in "); ok && f.Level == doctor.Wrong && f.About == "settings" {
			found[text+" in"] = true
		}
	}
	return found
}

// While a database is away it is not known which one it is.
func TestDatabaseIsComparedOnceItHasAnswered(t *testing.T) {
	store := redistest.Start(t).URL()
	database, away, back := cutOffDatabase(t)
	one := start(t, config(t, "--redis-url", store))
	away()
	late := start(t, config(t, "--redis-url", store, "--database-url", database))
	require.Eventually(t, func() bool { // both have written
		return len(must(one.store.Client.HGetAll(t.Context(), "{waitroom}:settings").Result())) == 2
	}, patience, 10*time.Millisecond)
	require.NotContains(t, late.sharedHere(), "database")
	require.Empty(t, one.settings.Differing())
	back()
	require.Eventually(t, func() bool { return one.settings.Differing() == "database" }, patience,
		10*time.Millisecond)
}
