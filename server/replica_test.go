package server

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/describetest"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/server/store"
)

func TestMain(m *testing.M) {
	store.LogTo(slog.New(slog.DiscardHandler))
	databases := runner(func() int { return pgtest.Main(m) })
	stores := runner(func() int { return redistest.Main(databases) })
	shared := runner(func() int { return browsertest.Main(stores) })
	goleak.VerifyTestMain(describetest.Run{M: shared, Recorder: described, Excused: excused})
}

// runner is a function that runs the tests of a package.
type runner func() int

func (r runner) Run() int { return r() }

// patience is the time-out of every wait in a test.
const patience = time.Minute

// replica is a whole server on a port of its own.
type replica struct {
	*Server
	end  context.CancelFunc
	done chan error
}

// config returns the configuration of `waitroom serve` with these arguments, on a free port.
func config(t *testing.T, args ...string) Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "waitroom.db")
	cfg, err := ParseConfig(append([]string{"--addr", "127.0.0.1:0", "--drain-timeout", "20s", "--database-url",
		"sqlite:" + file}, args...))
	require.NoError(t, err)
	if string(cfg.DatabaseURL) == "sqlite:"+file {
		require.NoError(t, os.WriteFile(file, newLedger(), 0o600))
	}
	return cfg
}

// newLedger returns the file of an empty ledger, since creating its tables takes longer than many tests.
var newLedger = sync.OnceValue(func() []byte {
	dir := must(os.MkdirTemp("", "ledger"))
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "waitroom.db")
	db := must(sqldb.Open(context.Background(),
		sqldb.Config{URL: "sqlite:" + file, Migrations: schema.Migrations(), Log: slog.New(slog.DiscardHandler)}))
	if err := db.Close(); err != nil {
		panic(err)
	}
	return must(os.ReadFile(file))
})

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// start runs a server without a log.
func start(t *testing.T, cfg Config) *replica {
	t.Helper()
	s, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return run(t, s)
}

// run runs a server until the test ends.
func run(t *testing.T, s *Server) *replica {
	t.Helper()
	s.http.Handler = described.Handler(t, s.http.Handler)
	ctx, end := context.WithCancel(context.Background())
	r := &replica{Server: s, end: end, done: make(chan error, 1)}
	go func() { r.done <- s.Run(ctx) }()
	t.Cleanup(func() { require.NoError(t, r.stop(t)) })
	return r
}

// stop stops the server and returns its error. A second stop returns the same.
func (r *replica) stop(t *testing.T) error {
	t.Helper()
	r.end()
	select {
	case err := <-r.done:
		r.done <- err
		return err
	case <-time.After(patience):
		t.Fatal("the server does not end")
		return nil
	}
}

// onBothStores runs a test on the embedded store and on a real Redis.
func onBothStores(t *testing.T, test func(t *testing.T, store string)) {
	t.Run("embedded", func(t *testing.T) { test(t, "embedded") })
	t.Run("redis", func(t *testing.T) { test(t, redistest.Lent(t).URL()) })
}

// newHTTP is a browserless client: no cookies, no redirects followed.
func newHTTP(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 300}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: described.Transport(t, transport), Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
