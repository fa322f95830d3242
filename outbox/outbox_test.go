package outbox_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/waitroom/waitroom/internal/testkit/mariadbtest"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/outbox"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		os.Exit(playVictim())
	}
	os.Exit(mariadbtest.Main(runner(func() int { return pgtest.Main(m) })))
}

type runner func() int

func (r runner) Run() int { return r() }

// bench is one database with its tasks, and a clock that the test sets.
type bench struct {
	db      *sql.DB
	source  source
	dialect outbox.Dialect
	clock   *clock
	store   *outbox.Store
}

// source is a way to open a database, for a second process too.
type source struct {
	Dialect     outbox.Dialect
	Driver, DSN string
}

// onEach runs a test on SQLite, on PostgreSQL and on MariaDB: the rules are the same.
func onEach(t *testing.T, test func(*testing.T, *bench)) {
	for name, where := range map[string]func(*testing.T) source{"sqlite": sqlite, "postgres": postgres,
		"mariadb": mariadb} {
		t.Run(name, func(t *testing.T) { test(t, newBench(t, where(t))) })
	}
}

func sqlite(t *testing.T) source {
	return source{outbox.SQLite, "sqlite", "file:" + filepath.Join(t.TempDir(), "outbox.db") +
		"?_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_txlock=immediate"}
}

// shared are the servers' databases and connections, which the tests use in turn: to create and to connect to
// a database takes longer than most tests.
var shared struct {
	postgres, mariadb string
	open              map[source]*sql.DB
}

func postgres(t *testing.T) source {
	if shared.postgres == "" {
		shared.postgres = pgtest.Start(t).URL()
	}
	return source{outbox.Postgres, "pgx", shared.postgres}
}

func mariadb(t *testing.T) source {
	if shared.mariadb == "" {
		shared.mariadb = mariadbtest.Start(t).DSN()
	}
	return source{outbox.MySQL, "mysql", shared.mariadb}
}

// connect returns a connection to a database without tasks.
func (s source) connect(t *testing.T) *sql.DB {
	t.Helper()
	db := shared.open[s]
	if db == nil {
		var err error
		db, err = sql.Open(s.Driver, s.DSN)
		require.NoError(t, err)
		db.SetMaxOpenConns(20)
		db.SetMaxIdleConns(20)
		if s.Dialect == outbox.SQLite { // a file of the test's own
			t.Cleanup(func() { _ = db.Close() })
		} else {
			if shared.open == nil {
				shared.open = make(map[source]*sql.DB)
			}
			shared.open[s] = db
		}
	}
	if _, err := db.Exec(`DELETE FROM outbox_tasks`); err != nil { // there is none yet
		_, err = db.Exec(outbox.Schema(s.Dialect))
		require.NoError(t, err)
	}
	return db
}

func newBench(t *testing.T, s source) *bench {
	t.Helper()
	db := s.connect(t)
	c := &clock{now: time.Now().Truncate(time.Second)}
	return &bench{db: db, source: s, dialect: s.Dialect, clock: c,
		store: outbox.NewStore(db, s.Dialect, outbox.StoreConfig{Now: c.Now})}
}

const job = "job"

// put enqueues a task of kind job, due now.
func (b *bench) put(t *testing.T, key, payload string) {
	t.Helper()
	b.putAll(t, outbox.Task{Kind: job, Key: key, Payload: payload})
}

func (b *bench) putAll(t *testing.T, tasks ...outbox.Task) {
	t.Helper()
	for i := range tasks {
		tasks[i].CreatedAt = b.clock.Now().UnixMilli()
	}
	tx, err := b.db.Begin()
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	require.NoError(t, outbox.Enqueue(t.Context(), tx, b.dialect, tasks...))
	require.NoError(t, tx.Commit())
}

// worker returns a worker with a handler for the kind job.
func (b *bench) worker(t *testing.T, do outbox.Handler) *outbox.Worker {
	t.Helper()
	w, err := outbox.NewWorker(outbox.Config{Store: b.store, Kinds: map[string]outbox.Kind{job: {Do: do}}})
	require.NoError(t, err)
	return w
}

// claim takes the next job that is due now.
func (b *bench) claim(t *testing.T) (outbox.Task, bool) {
	t.Helper()
	task, ok, err := b.store.Claim(t.Context(), job, b.clock.Now().UnixMilli())
	require.NoError(t, err)
	return task, ok
}

func (b *bench) mustClaim(t *testing.T) outbox.Task {
	t.Helper()
	task, ok := b.claim(t)
	require.True(t, ok, "there is nothing to claim")
	return task
}

func (b *bench) requireNoneClaimable(t *testing.T, why ...any) {
	t.Helper()
	task, ok := b.claim(t)
	require.False(t, ok, append([]any{task.Payload}, why...)...)
}

func (b *bench) pending(t *testing.T) int {
	t.Helper()
	counts, err := b.store.Count(t.Context())
	require.NoError(t, err)
	return counts.Pending
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// calls records the tasks that handlers were called with.
type calls struct {
	mu      sync.Mutex
	phases  map[string]int // by payload and phase
	busy    map[string]int
	overlap bool
}

// record wraps a handler and records its calls.
func (c *calls) record(do outbox.Handler) outbox.Handler {
	return func(ctx context.Context, t outbox.Task) (outbox.Phase, error) {
		c.change(t, 1)
		defer c.change(t, -1)
		return do(ctx, t)
	}
}

func (c *calls) change(t outbox.Task, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phases == nil {
		c.phases, c.busy = map[string]int{}, map[string]int{}
	}
	if c.busy[t.UID] += by; by > 0 {
		c.phases[t.Payload+" "+string(t.Phase)]++
	}
	c.overlap = c.overlap || c.busy[t.UID] > 1
}

func (c *calls) seen() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]int, len(c.phases))
	for k, n := range c.phases {
		all[k] = n
	}
	return all
}
