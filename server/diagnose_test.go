package server

import (
	"bytes"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/sqlitetest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/server/doctor"
)

// sound returns a configuration in which the doctor finds nothing wrong, with more arguments.
func sound(t *testing.T, args ...string) Config {
	t.Helper()
	return config(t, append([]string{"--sms-webhook-secret", smsSecret, "--public-url",
		"https://wait.example", "--trusted-proxies", "10.0.0.1",
		"--support-users", "kim:$2a$10$7EqJtq98hPqEX7fNZaFWoOhi5cX3bJ7oVYJcM0KqBv2Jc0pUoM8bW"}, args...)...)
}

func diagnosed(t *testing.T, cfg Config) (report string, well bool) {
	t.Helper()
	var out bytes.Buffer
	well = doctor.WriteFindings(&out, Diagnose(t.Context(), cfg, doctor.Only{}))
	return out.String(), well
}

func TestLedgersFileThatMayNotBeWrittenStopsTheStart(t *testing.T) {
	path := sqlitetest.ReadOnly(t)
	_, err := New(t.Context(), sound(t, "--database-url", "sqlite:"+path), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "DATABASE_URL: "+path+" can not be written: give the user who runs "+
		"waitroom the right to write there, or name another path")
}

func TestDoctorFindsNothingWhereNothingIsWrongAndAServerServes(t *testing.T) {
	cfg := sound(t, "--redis-url", redistest.StartKept(t).URL(), "--database-url", pgtest.Start(t).URL(),
		"--rooms-file", roomsFile(t, "integration: {sms_from: [1588-0000]}\n"))
	report, well := diagnosed(t, cfg)
	require.True(t, well, report)
	require.NotContains(t, report, "hint")
	before := cfg.Redis
	r := start(t, cfg)
	cfg.Addr = r.Addr()
	report, well = diagnosed(t, cfg)
	require.True(t, well, report)
	require.Contains(t, report, "a waitroom serves there")
	s, err := before.Open(slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer s.Close()
	keys, err := s.Client.Keys(t.Context(), "*doctor*").Result()
	require.NoError(t, err)
	require.Empty(t, keys)
}

// The doctor publishes to try its rights.
func TestDoctorLeavesNoErrorInAReplicasLog(t *testing.T) {
	cfg := config(t, "--redis-url", redistest.StartKept(t).URL())
	var log testproc.Log
	errors := slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError})
	s, err := New(t.Context(), cfg, slog.New(errors))
	require.NoError(t, err)
	r := run(t, s)
	socket := open(t, r.URL())
	next(t, socket)
	diagnosed(t, cfg)
	require.Equal(t, http.StatusOK, newSeller(t, r.URL(), "s-1").join().StatusCode)
	next(t, socket) // by then the replica has received what the doctor published
	require.Empty(t, log.String())
}

func TestDoctorTriesTheKeysOfEveryPart(t *testing.T) {
	admin := redistest.StartKept(t)
	tags := []string{"", "-limit:*", "-link", "-push", "-reach", "-seller", "-support"}
	for i := range tags {
		rights := []any{"ACL", "SETUSER", "app", "reset", "on", ">app", "+@all", "&*", "~{integration}*"}
		for _, tag := range slices.Delete(slices.Clone(tags), i, i+1) {
			rights = append(rights, "~{waitroom"+tag+"}*")
		}
		require.NoError(t, admin.Client().Do(t.Context(), rights...).Err())
		report, _ := diagnosed(t, config(t, "--redis-url", "redis://app:app@"+admin.Addr()))
		require.Contains(t, report, "The user may not", tags[i])
	}
}

// Advice that does not help is worse than none, so the test follows it.
func TestRightsThatTheDoctorAsksForAreEnoughForAServer(t *testing.T) {
	admin := redistest.StartKept(t)
	all := Diagnose(t.Context(), sound(t, "--redis-url",
		"redis://app:app@"+redistest.StartKept(t, "--user", "app", "on", ">app", "+ping").Addr()), doctor.Only{})
	i := slices.IndexFunc(all, func(f doctor.Finding) bool {
		return strings.HasPrefix(f.Do,
			"ACL SETUSER the user so: ")
	})
	require.GreaterOrEqual(t, i, 0, "%v", all)
	rights, _, _ := strings.Cut(strings.TrimPrefix(all[i].Do, "ACL SETUSER the user so: "), " (or")
	args := []any{"ACL", "SETUSER", "app", "on", ">app"}
	for right := range strings.FieldsSeq(rights) {
		args = append(args, right)
	}
	require.NoError(t, admin.Client().Do(t.Context(), args...).Err())
	cfg := sound(t, "--redis-url", "redis://app:app@"+admin.Addr(), "--database-url", pgtest.Start(t).URL(),
		"--public-url", "")
	report, well := diagnosed(t, cfg)
	require.True(t, well, report)
	log := &testproc.Log{}
	s, err := New(t.Context(), cfg, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	r := run(t, s)
	a := newSeller(t, r.URL(), "a")
	readiness(t, a, http.StatusOK)
	require.Equal(t, http.StatusOK, a.join().StatusCode)
	next(t, open(t, r.URL(), "X-Session-ID", a.session))
	require.Equal(t, http.StatusOK, a.leave("").StatusCode)
	require.NotContains(t, strings.ToUpper(log.String()), "NOPERM")
}
