package crowd_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/lab/crowd"
	"github.com/waitroom/waitroom/server"
)

const secret = "whsec_c2VjcmV0LW9mLXRoZS1jYXJyaWVyLTEyMzQ1Ng=="

// startReplica serves until the test ends, and returns its address.
func startReplica(t *testing.T, args ...string) string {
	cfg, err := server.ParseConfig(append([]string{"--addr", "127.0.0.1:0", "--rate-limit", "0",
		"--places-per-ip", "0", "--sockets-per-ip", "0", "--rooms", "integration,coupang",
		"--sms-webhook-secret", secret, "--sms-quarantine", "1s", "--drain-timeout", "1s"}, args...))
	require.NoError(t, err)
	s, err := server.New(t.Context(), cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	testproc.Until(t, time.Minute, func() error {
		resp, err := http.Get(s.URL() + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	})
	return s.URL()
}

func TestAHundredSellersOnTwoReplicasSeeTheTruth(t *testing.T) {
	store := redistest.Start(t)
	args := []string{"--redis-url", store.URL(), "--database-url",
		"sqlite:" + filepath.Join(t.TempDir(), "waitroom.db")}
	urls := []string{startReplica(t, args...), startReplica(t, args...)}
	cfg := crowd.Config{URLs: urls, Rooms: []crowd.Crowd{{Room: "integration", People: 80},
		{Room: "coupang", People: 20}}, Seed: 3,
		Duration: time.Minute, Hold: 100 * time.Millisecond, Rest: 300 * time.Millisecond,
		Carrier: crowd.Carrier{Secret: secret},
		Mix:     crowd.Mix{Impatient: 10, Sleeping: 10, Reloading: 10, Tabs: 10}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	lines, peak := 0, 0
	cfg.Every = func(l crowd.Line) {
		t.Log(l)
		lines, peak = lines+1, max(peak, l.Sockets)
		if l.At >= 5*time.Second && peak >= 90 && l.Handoffs >= 20 {
			stop()
		}
	}
	summary, err := crowd.Run(ctx, cfg)
	require.NoError(t, err)
	text, err := json.Marshal(summary)
	require.NoError(t, err)
	t.Log(string(text))
	require.Empty(t, summary.Violations)
	require.True(t, summary.OK())
	require.NotZero(t, lines)
	require.GreaterOrEqual(t, summary.PeakSockets, 90)
	require.NotZero(t, summary.SMS["matched"])
	require.NotZero(t, summary.HandoffMS.Count)
	for name, r := range summary.Rooms {
		require.NotZero(t, r.Leases, name)
		require.NotZero(t, r.Exact, name)
		ended := 0
		for _, n := range r.Outcomes {
			ended += n
		}
		require.Equal(t, r.Tickets, ended+r.Live, name)
	}
	for _, room := range []string{"integration", "coupang"} { // they gave their places back
		resp, err := http.Get(urls[0] + "/api/" + room + "/lock/status")
		require.NoError(t, err)
		var status struct {
			Status string
			Length int `json:"queue_length"`
		}
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&status))
		_ = resp.Body.Close()
		require.Equal(t, "free", status.Status)
		require.Zero(t, status.Length)
	}
}

func TestTheCarriersNumberIsKeptAndThenTurnsEndByThemselves(t *testing.T) {
	url := startReplica(t, "--database-url", "sqlite:"+filepath.Join(t.TempDir(), "waitroom.db"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	summary, err := crowd.Run(ctx, crowd.Config{URLs: []string{url},
		Rooms: []crowd.Crowd{{Room: "integration", People: 5}}, Duration: time.Minute,
		Hold: 50 * time.Millisecond, Rest: 50 * time.Millisecond,
		Carrier: crowd.Carrier{Secret: secret, Number: 3, Rate: 20},
		Every: func(l crowd.Line) {
			if l.At >= 3*time.Second && l.Handoffs >= 10 {
				stop()
			}
		}})
	require.NoError(t, err)
	require.True(t, summary.OK(), "%v", summary.Violations)
	require.Equal(t, map[string]int{"matched": 3}, summary.SMS)
	require.Greater(t, summary.Rooms["integration"].Outcomes["completed"], 3)
}

func TestTheCommandEndsWithASummaryAndAnExitCode(t *testing.T) {
	program := filepath.Join(t.TempDir(), "crowd")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program,
		"./cmd").CombinedOutput()
	require.NoError(t, err, string(out))
	url := startReplica(t, "--database-url", "sqlite:"+filepath.Join(t.TempDir(), "waitroom.db"))

	file := filepath.Join(t.TempDir(), "summary.json")
	cmd := exec.Command(program, "--urls", url, "--rooms", "integration=10", "--for", "4s", "--hold", "50ms",
		"--summary", file)
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `sockets \d+ `, string(out))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var summary crowd.Summary
	require.NoError(t, json.Unmarshal(text, &summary))
	require.Equal(t, 10, summary.People)
	require.Equal(t, 10, summary.PeakSockets)

	cmd = exec.Command(program, "--urls", "http://192.0.2.1:8080", "--for", "2s")
	out, err = cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 2, cmd.ProcessState.ExitCode())
	require.True(t, strings.Contains(string(out), "--anywhere"), string(out))
}
