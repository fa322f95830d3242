package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// work is one transaction's way to the tables.
type work struct {
	dialect.Querier // what is asked goes here; through prepared statements where SQLite would parse it each time
	ctx             context.Context
	dialect         dialect.Dialect
	id              room.ID
	tell            bool
	guard           time.Duration // how far a carrier's clock may be off
	alarms          []alarm       // to be logged when the transaction is through
	verdicts        []verdict     // on the matches in it, given now or before; the room is to be told
	judged          int           // those given now
	refusals        int           // of those given now
	parked          []parkedEntry
}

func (w *work) exec(query string, args ...any) (changed int64, err error) {
	res, err := w.ExecContext(w.ctx, w.dialect.Bind(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (w *work) row(query string, args ...any) *sql.Row {
	return w.QueryRowContext(w.ctx, w.dialect.Bind(query), args...)
}

// each calls read for every row; it must not use the transaction meanwhile.
func (w *work) each(read func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := w.QueryContext(w.ctx, w.dialect.Bind(query), args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// guard runs do where the database is there, migrated first, and fails at once where it is known to be away.
func (l *Ledger) guard(ctx context.Context, do func() error) error {
	if err := l.circuit.enter(); err != nil {
		return err
	}
	err := l.ready(ctx)
	if err == nil {
		err = do()
	}
	waited := slow(ctx, err)
	if l.circuit.leave(err, waited) {
		l.log.Info("ledger is back")
	}
	if waited {
		l.suspect()
	}
	if err != nil && !odd(err) && ctx.Err() == nil {
		l.metrics.failures.Inc()
	}
	return err
}

func (l *Ledger) ready(ctx context.Context) error {
	if l.migrated.Load() {
		return nil
	}
	if err := l.migrate(ctx); err != nil {
		return err
	}
	l.migrated.Store(true)
	return nil
}

// reading runs do outside of any transaction.
func (l *Ledger) reading(ctx context.Context, id room.ID, do func(*work) error) error {
	return l.clean(l.guard(ctx, func() error { return do(&work{Querier: l.db, ctx: ctx, dialect: l.dialect, id: id}) }))
}

// inRoom runs do in a transaction that is alone in its room, across all replicas: it waits for the one
// before it. Where do fails nothing is written.
func (l *Ledger) inRoom(ctx context.Context, id room.ID, do func(*work) error) error {
	done, err := l.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	w := &work{ctx: ctx, dialect: l.dialect, id: id, tell: l.cfg.Tell, guard: l.cfg.Guard}
	err = l.guard(ctx, func() error { return l.transact(ctx, w, do) })
	if err != nil {
		return l.clean(err)
	}
	l.through(w)
	return nil
}

func (l *Ledger) transact(ctx context.Context, w *work, do func(*work) error) error {
	tx, err := l.db.BeginTx(ctx, nil) // SQLite: IMMEDIATE, which is alone in the whole file
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	w.Querier = tx
	if l.dialect == dialect.SQLite {
		w.Querier = prepared{tx: tx, db: l.db, statements: &l.statements}
	}
	if l.dialect == dialect.Postgres {
		if _, err := w.exec(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, string(w.id)); err != nil {
			return fmt.Errorf("lock room: %w", err)
		}
	}
	if err := do(w); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// turn waits until no other goroutine of this process writes to SQLite.
func (l *Ledger) turn(ctx context.Context) (done func(), err error) {
	if l.writer == nil {
		return func() {}, nil
	}
	select {
	case l.writer <- struct{}{}:
		return func() { <-l.writer }, nil
	case <-ctx.Done():
		l.suspect()
		return nil, fmt.Errorf("wait to write: %w", ctx.Err())
	}
}

// through tells what must be told once it is certain.
func (l *Ledger) through(w *work) {
	l.metrics.judged.WithLabelValues(agreed).Add(float64(w.judged - w.refusals))
	l.metrics.judged.WithLabelValues(refused).Add(float64(w.refusals))
	for _, p := range w.parked {
		l.metrics.parked.Inc()
		l.log.Error("ledger can not apply a journal entry and has parked it", "room", string(w.id), "entry", p.entry, "error", p.why)
	}
	for _, a := range w.alarms {
		l.metrics.incidents.WithLabelValues(a.kind).Inc()
		l.log.Error("ledger incident: "+a.detail, "kind", a.kind, "room", string(w.id), "subject", a.subject,
			"ticket", a.ticket, "fence", a.fence)
	}
	if len(w.alarms) > 0 {
		l.bell.ring(w.id)
	}
}
