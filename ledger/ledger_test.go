package ledger_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

const here = room.ID("integration")

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// bench is a database that several ledgers may share, and a journal.
type bench struct {
	url     string
	journal *journal
	log     *testproc.Log
	now     *clock
	reused  *reused // nil: the database is the test's own
	counters

	probeWithin time.Duration
}

func newBench(url string) *bench {
	return &bench{url: url, journal: &journal{entries: map[room.ID][]room.Entry{}, tickets: map[room.ID]int64{}},
		log: &testproc.Log{},
		now: &clock{now: time.Now()}, probeWithin: time.Minute}
}

func (b *bench) config() ledger.Config {
	return ledger.Config{Journal: b.journal, Rooms: b.journal, Webhooks: true, Now: b.now.Now,
		Log: slog.New(slog.NewTextHandler(b.log, nil))}
}

func (b *bench) open(t *testing.T) *ledger.Ledger {
	t.Helper()
	return b.openWith(t, b.config())
}

// openWith opens a replica with a database of its own.
func (b *bench) openWith(t testing.TB, c ledger.Config) *ledger.Ledger {
	t.Helper()
	release := b.take(t, &c)
	b.join(t, &c)
	l := ledger.New(c)
	t.Cleanup(func() {
		b.leave(t, c.DB.SQL())
		l.Close()
		release()
	})
	return l
}

func (b *bench) database(ctx context.Context) (*sqldb.DB, error) {
	return b.databaseWith(ctx, b.now.Now, b.log)
}

// databaseWith opens a database with a clock and a log, and requires that it can be reached.
func (b *bench) databaseWith(ctx context.Context, now func() time.Time, log io.Writer) (*sqldb.DB, error) {
	return sqldb.Open(ctx, sqldb.Config{URL: b.url, Migrations: schema.Migrations(), Now: now,
		Log:         slog.New(slog.NewTextHandler(log, nil)),
		ProbeWithin: b.probeWithin})
}

// write journals records as one entry.
func (b *bench) write(epoch int64, records ...room.Record) {
	b.journal.write(here, epoch, records...)
}

// scan reads one row of a query's result.
func scan(t *testing.T, l *ledger.Ledger, query string, into ...any) {
	t.Helper()
	require.NoError(t, l.DB().QueryRow(query).Scan(into...))
}

func count(t *testing.T, l *ledger.Ledger, from string) (n int) {
	t.Helper()
	scan(t, l, "SELECT COUNT(*) FROM "+from, &n)
	return n
}

// column reads one column of a query's result.
func column(t *testing.T, db *sql.DB, query string) (values []string) {
	t.Helper()
	rows, err := db.Query(query)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var v string
		require.NoError(t, rows.Scan(&v))
		values = append(values, v)
	}
	require.NoError(t, rows.Err())
	return values
}

// journal is a room's journal and its verdicts, in memory.
type journal struct {
	mu       sync.Mutex
	seq      int
	tickets  map[room.ID]int64
	entries  map[room.ID][]room.Entry
	settled  []string
	epoch    int64
	failTrim func() bool
	onTrim   func()
}

var errLost = errors.New("the replica died before it trimmed")

func (j *journal) write(id room.ID, epoch int64, records ...room.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seq++
	j.entries[id] = append(j.entries[id], room.Entry{ID: fmt.Sprintf("1763689000000-%d", j.seq), Epoch: epoch,
		Records: records})
}

// rename moves a room's journal to another room.
func (j *journal) rename(from, to room.ID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries[to] = j.entries[from]
	delete(j.entries, from)
}

func (j *journal) add(id room.ID, e room.Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries[id] = append(j.entries[id], e)
}

func (j *journal) ReadJournal(_ context.Context, id room.ID, n int) ([]room.Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := j.entries[id]
	return append([]room.Entry(nil), list[:min(n, len(list))]...), nil
}

func (j *journal) EachRoom(ctx context.Context, ids []room.ID, _ time.Duration,
	f func(context.Context, room.ID) error) map[room.ID]error {
	failed := make(map[room.ID]error)
	for _, id := range ids {
		if err := f(ctx, id); err != nil {
			failed[id] = err
		}
	}
	return failed
}

func (j *journal) TrimJournal(_ context.Context, id room.ID, entries []room.Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failTrim != nil && j.failTrim() {
		return errLost
	}
	if j.onTrim != nil {
		defer j.onTrim()
	}
	gone := map[string]bool{}
	for _, e := range entries {
		gone[e.ID] = true
	}
	list := j.entries[id]
	for len(list) > 0 && gone[list[0].ID] { // mostly these are all
		delete(gone, list[0].ID)
		list = list[1:]
	}
	if len(gone) > 0 {
		list = slices.DeleteFunc(slices.Clone(list), func(e room.Entry) bool { return gone[e.ID] })
	}
	j.entries[id] = list
	return nil
}

func (j *journal) ReadJournals(ctx context.Context, ids []room.ID, n int) []room.Journal {
	list := make([]room.Journal, len(ids))
	for i, id := range ids {
		list[i].Room = id
		list[i].Entries, list[i].Err = j.ReadJournal(ctx, id, n)
	}
	return list
}

func (j *journal) TrimJournals(ctx context.Context, list []room.Journal) []error {
	failed := make([]error, len(list))
	for i, each := range list {
		failed[i] = j.TrimJournal(ctx, each.Room, each.Entries)
	}
	return failed
}

func (j *journal) Look(context.Context, room.ID, ...string) (room.View, []room.Seat, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return room.View{Room: wire.Room{Epoch: j.epoch}, Now: 1763689999000}, nil, nil
}

func (j *journal) SettleMatch(_ context.Context, _ room.ID, messageID string, fence int64,
	agreed bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.settled = append(j.settled, fmt.Sprint(messageID, " ", agreed))
	return nil
}

func (j *journal) verdicts() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.settled...)
}

func (j *journal) left(id room.ID) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries[id])
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

// joined, granted, ended and matched are records of the place with a ticket. It joins and is granted at
// ticket·10 ms, its fence is ticket·1000, and what ends it or matches it is 10 ms later.

func joined(ticket int64) room.Record {
	return room.Record{Type: "joined", At: ticket * 10, Ticket: ticket, Seller: fmt.Sprintf("s-%d", ticket)}
}

func granted(ticket int64) room.Record {
	return room.Record{Type: "granted", At: ticket * 10, Ticket: ticket, Seller: fmt.Sprintf("s-%d", ticket),
		Fence:     ticket * 1000,
		GrantedAt: ticket * 10, ExpiresAt: ticket*10 + 120}
}

func ended(ticket int64, o room.Outcome) room.Record {
	return room.Record{Type: "ended", At: ticket*10 + 10, Ticket: ticket, Seller: fmt.Sprintf("s-%d", ticket),
		Fence:   ticket * 1000,
		Outcome: o, EndedAt: ticket*10 + 10}
}

func matched(messageID string, ticket int64) room.Record {
	return room.Record{Type: "message", At: ticket*10 + 10, Ticket: ticket, Seller: fmt.Sprintf("s-%d", ticket),
		Fence:     ticket * 1000,
		GrantedAt: ticket * 10, EndedAt: ticket*10 + 10, Result: room.Matched, Code: true, Judge: true,
		Completes: true,
		MessageNote: room.MessageNote{MessageID: messageID, From: "01012345678", Text: "code 482913",
			SentAt: ticket*10 + 5, Received: ticket*10 + 9}}
}

// life journals a whole lease that an SMS completed.
func (b *bench) life(ticket int64) {
	b.write(1, joined(ticket), granted(ticket))
	b.write(1, matched(fmt.Sprintf("m-%d", ticket), ticket), ended(ticket, room.Completed))
}
