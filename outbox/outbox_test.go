package outbox_test

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/waitroom/waitroom/internal/pgtest"
	"github.com/waitroom/waitroom/outbox"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// bench is one database with its tasks, a clock that stands still, and a receiver.
type bench struct {
	db       *sql.DB
	dialect  outbox.Dialect
	clock    *clock
	store    *outbox.Store
	receiver *receiver
}

// onBoth runs a test on SQLite and on PostgreSQL.
func onBoth(t *testing.T, test func(*testing.T, *bench)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, newBench(t, outbox.SQLite, "sqlite", "file:"+filepath.Join(t.TempDir(), "outbox.db")+
			"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_txlock=immediate"))
	})
	t.Run("postgres", func(t *testing.T) {
		test(t, newBench(t, outbox.Postgres, "pgx", pgtest.Start(t).URL()))
	})
}

func newBench(t *testing.T, d outbox.Dialect, driver, dsn string) *bench {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.Exec(outbox.Schema(d))
	require.NoError(t, err)
	c := &clock{now: time.Now().Truncate(time.Second)}
	return &bench{db: db, dialect: d, clock: c, store: outbox.NewStore(db, d, c.Now), receiver: newReceiver(t)}
}

func (b *bench) put(t *testing.T, lease, kind string) {
	t.Helper()
	tx, err := b.db.Begin()
	require.NoError(t, err)
	require.NoError(t, outbox.Enqueue(t.Context(), tx, b.dialect, outbox.Task{Room: "integration", LeaseKey: lease,
		Type: kind, Payload: `{"type":"` + kind + `","lease":"` + lease + `"}`, CreatedAt: b.clock.Now().UnixMilli()}))
	require.NoError(t, tx.Commit())
}

func (b *bench) worker(t *testing.T) *outbox.Worker {
	t.Helper()
	w, err := outbox.NewWorker(outbox.Config{Store: b.store, URL: b.receiver.server.URL, Secret: secret})
	require.NoError(t, err)
	return w
}

// claim takes the next task as of now.
func (b *bench) claim(t *testing.T) (outbox.Task, bool) {
	t.Helper()
	task, ok, err := b.store.Claim(t.Context(), b.clock.Now().UnixMilli())
	require.NoError(t, err)
	return task, ok
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

// receiver is the other program: it checks signatures and remembers what it was told.
type receiver struct {
	server *httptest.Server

	mu       sync.Mutex
	answer   func(*http.Request) int // nil = 200
	accepted []delivery
	busy     map[string]int
	overlap  bool
	forged   int
}

type delivery struct{ id, body string }

func newReceiver(t *testing.T) *receiver {
	r := &receiver{busy: map[string]int{}}
	r.server = httptest.NewServer(r)
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	id := q.Header.Get("webhook-id")
	r.enter(id)
	status := http.StatusOK
	if answer := r.answering(); answer != nil {
		status = answer(q)
	}
	verifier, _ := webhooks.NewWebhook(secret)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy[id]--
	if verifier.VerifyIgnoringTimestamp(body, q.Header) != nil {
		r.forged++
		status = http.StatusUnauthorized
	}
	if status == http.StatusOK {
		r.accepted = append(r.accepted, delivery{id, string(body)})
	}
	w.WriteHeader(status)
}

func (r *receiver) enter(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy[id]++
	r.overlap = r.overlap || r.busy[id] > 1
}

func (r *receiver) answering() func(*http.Request) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answer
}

func (r *receiver) answers(f func(*http.Request) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func (r *receiver) told() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.accepted...)
}

func (r *receiver) bodies() []string {
	var bodies []string
	for _, d := range r.told() {
		bodies = append(bodies, d.body)
	}
	return bodies
}

func always(status int) func(*http.Request) int { return func(*http.Request) int { return status } }

func background(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), 30*time.Second)
}
