package sqldb

import (
	"context"
	"fmt"
)

// guard runs do on a migrated database, and fails at once while the database is away. A database is back once
// it has taken a write: a standby, or a replaced primary, may still answer reads.
func (d *DB) guard(ctx context.Context, do func() error) error {
	again, err := d.circuit.enter()
	if err != nil {
		return err
	}
	err = d.ready(ctx)
	if err == nil && again {
		err = d.back(ctx)
	}
	if err == nil {
		err = do()
	}
	waited := slow(ctx, err)
	d.circuit.leave(err, waited)
	if waited {
		d.Suspect()
	}
	if err != nil && !OfData(err) && !late(ctx) {
		d.stats.failures.Add(1)
		if d.postgres != nil && !waited && !answered(err) {
			d.postgres.distrust() // the other connections may lead to a replaced server
		}
	}
	return err
}

func (d *DB) ready(ctx context.Context) error {
	if d.migrated.Load() {
		d.checkFile()
		return nil
	}
	if err := d.migrate(ctx); err != nil {
		return err
	}
	if err := d.file.note(); err != nil {
		return err
	}
	d.migrated.Store(true)
	return nil
}

// back tries whether a database that was away is back.
func (d *DB) back(ctx context.Context) error {
	if err := d.file.same(); err != nil {
		return err
	}
	return d.tryWrite(ctx)
}

// tryWrite rewrites one row of the migrations' table, and closes the circuit if that succeeds.
func (d *DB) tryWrite(ctx context.Context) error {
	if _, err := d.sql.ExecContext(ctx, `UPDATE goose_db_version SET is_applied = is_applied
		WHERE id = (SELECT MIN(id) FROM goose_db_version)`); err != nil {
		return fmt.Errorf("try to write: %w", err)
	}
	if err := d.tryRoom(ctx); err != nil {
		return fmt.Errorf("try to write: %w", err)
	}
	if d.circuit.wrote() {
		d.log.Info("database is back")
	}
	return nil
}

// roomOnDisk is what a full disk must have again before the database counts as back (bytes).
const roomOnDisk = 1 << 20

// tryRoom writes a table and drops it, if SQLite's disk was full: a single row may still fit on it, and then
// the database would be back and away again with each write.
func (d *DB) tryRoom(ctx context.Context) error {
	if _, err := d.circuit.state(); !full(err) {
		return nil
	}
	const drop = `DROP TABLE IF EXISTS waitroom_room_on_disk`
	for _, statement := range []string{drop, fmt.Sprintf(`CREATE TABLE waitroom_room_on_disk AS
		SELECT zeroblob(%d) AS content`, roomOnDisk), drop} {
		if _, err := d.sql.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Suspect starts a probe after a slow question. Only a failed probe opens the circuit.
func (d *DB) Suspect() {
	answers := d.circuit.count()
	d.probe.start(func(err error) {
		if err != nil {
			d.stats.silent.Add(1)
		} else {
			d.stats.answered.Add(1)
		}
		if d.circuit.probed(err, answers) {
			ctx, cancel := context.WithTimeout(context.Background(), d.probe.within)
			defer cancel()
			_ = d.tryWrite(ctx)
		}
	})
}

// Reprobe tries a database that is away, unless an attempt has just been made. It does nothing if the
// database is not away.
func (d *DB) Reprobe(ctx context.Context) {
	if _, err := d.circuit.state(); err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, d.probe.within)
	defer cancel()
	_ = d.guard(ctx, func() error { return nil }) // guard has tried a write by then
}

// turn waits until no other goroutine of this process writes to SQLite.
func (d *DB) turn(ctx context.Context) (done func(), err error) {
	if d.writer == nil {
		return func() {}, nil
	}
	select {
	case d.writer <- struct{}{}:
		return func() { <-d.writer }, nil
	case <-ctx.Done():
		d.Suspect()
		return nil, fmt.Errorf("wait to write: %w", ctx.Err())
	}
}
