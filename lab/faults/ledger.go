package faults

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// Ledger has the database's content at the end of a run.
type Ledger struct {
	Read     bool
	Leases   []LeaseRow
	Places   []PlaceRow
	Messages []MessageRow
	// Incidents are the kinds of the recorded incidents.
	Incidents []string
	Counted   Counted
	Bodies    string // every text that is kept
}

// LeaseRow is a lease. Times are unix ms; 0 = not known.
type LeaseRow struct {
	Room                    string
	Epoch, Fence, Ticket    int64
	Seller, Outcome         string
	Granted, Expires, Ended int64
}

// PlaceRow is a place. Outcome is empty while it is open.
type PlaceRow struct {
	Room          string
	Epoch, Ticket int64
	Seller        string
	Outcome       string
	Fence         int64
}

// MessageRow is a message with its first result; "" while it has none.
type MessageRow struct {
	Room, ID, Result string
	Reason           string
	Fence            int64
}

// How long the ledger and the outbox may take to catch up once there is no load. A killed replica's webhook
// stays claimed for 30 s.
const (
	ledgerWithin = 20 * time.Second
	outboxWithin = 50 * time.Second
)

// readLedger reads the ledger once nothing in it is open, or after a time limit.
func (r *Run) readLedger(ctx context.Context) (l Ledger, err error) {
	db, err := sql.Open(r.driver, r.dsn)
	if err != nil {
		return l, err
	}
	defer func() { _ = db.Close() }()
	began := time.Now()
	open := until(ledgerWithin, func() error { return r.caughtUp(ctx, db) })
	if open != nil {
		r.trouble(LedgerMissing, "the ledger does not catch up: %v", open)
	}
	r.history.Note("the ledger has caught up after %d ms", time.Since(began).Milliseconds())
	if r.plan.Webhooks {
		if err := until(outboxWithin, func() error { return outboxEmpty(ctx, db) }); err != nil {
			r.trouble(WebhookMissing, "%v", err)
		}
		r.history.Note("the integration has everything after %d ms", time.Since(began).Milliseconds())
	}
	if err := l.read(ctx, db); err != nil {
		return l, err
	}
	l.Read = true
	r.askAll(ctx, &l)
	return l, nil
}

// read reads all rows.
func (l *Ledger) read(ctx context.Context, db *sql.DB) error {
	for _, read := range []func(context.Context, *sql.DB) error{l.readLeases, l.readPlaces, l.readMessages,
		l.readIncidents} {
		if err := read(ctx, db); err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
	}
	return nil
}

// caughtUp returns nil if no place is open and no journal has entries.
func (r *Run) caughtUp(ctx context.Context, db *sql.DB) error {
	for _, room := range r.rooms {
		n, err := r.store.master(room).Client().XLen(ctx, "{"+room+"}:journal").Result()
		if err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%d entries of %s wait", n, room)
		}
	}
	var open int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM places WHERE outcome IS NULL`).Scan(&open)
	if err == nil && open > 0 {
		err = fmt.Errorf("%d places are open", open)
	}
	return err
}

// outboxEmpty returns nil if the outbox is empty.
func outboxEmpty(ctx context.Context, db *sql.DB) error {
	var open int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM outbox_tasks WHERE state <> 'done'`).Scan(&open)
	if err == nil && open > 0 {
		err = fmt.Errorf("%d webhooks are on their way or dead", open)
	}
	return err
}

func (l *Ledger) readLeases(ctx context.Context, db *sql.DB) error {
	return rows(ctx, db, `SELECT room, epoch, fence, ticket, seller, COALESCE(outcome, ''), COALESCE(granted_at, 0), COALESCE(expires_at, 0),
		COALESCE(ended_at, 0) FROM leases ORDER BY room, fence`, func(scan func(...any) error) error {
		var w LeaseRow
		err := scan(&w.Room, &w.Epoch, &w.Fence, &w.Ticket, &w.Seller, &w.Outcome, &w.Granted, &w.Expires, &w.Ended)
		l.Leases = append(l.Leases, w)
		return err
	})
}

func (l *Ledger) readPlaces(ctx context.Context, db *sql.DB) error {
	return rows(ctx, db, `SELECT room, epoch, ticket, seller, COALESCE(outcome, ''), COALESCE(fence, 0) FROM places
		ORDER BY room, ticket, epoch`, func(scan func(...any) error) error {
		var w PlaceRow
		err := scan(&w.Room, &w.Epoch, &w.Ticket, &w.Seller, &w.Outcome, &w.Fence)
		l.Places = append(l.Places, w)
		return err
	})
}

func (l *Ledger) readMessages(ctx context.Context, db *sql.DB) error {
	var bodies strings.Builder
	defer func() { l.Bodies = bodies.String() }()
	return rows(ctx, db, `SELECT room, message_id, result, reason, fence, body FROM messages ORDER BY room, message_id`, func(scan func(...any) error) error {
		var w MessageRow
		var body string
		err := scan(&w.Room, &w.ID, &w.Result, &w.Reason, &w.Fence, &body)
		l.Messages = append(l.Messages, w)
		bodies.WriteString(body + "\n")
		return err
	})
}

func (l *Ledger) readIncidents(ctx context.Context, db *sql.DB) error {
	return rows(ctx, db, `SELECT kind FROM incidents ORDER BY at`, func(scan func(...any) error) error {
		var kind string
		err := scan(&kind)
		l.Incidents = append(l.Incidents, kind)
		return err
	})
}

// rows calls read for every row of a query.
func rows(ctx context.Context, db *sql.DB, query string, read func(scan func(...any) error) error) error {
	found, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		if err := read(found.Scan); err != nil {
			return err
		}
	}
	return found.Err()
}
