package sqldb

import (
	"context"
	"fmt"
)

// guard runs do where the database is there, migrated first, and fails at once where it is known to be away.
func (d *DB) guard(ctx context.Context, do func() error) error {
	if err := d.circuit.enter(); err != nil {
		return err
	}
	err := d.ready(ctx)
	if err == nil {
		err = do()
	}
	waited := slow(ctx, err)
	if d.circuit.leave(err, waited) {
		d.log.Info("database is back")
	}
	if waited {
		d.Suspect()
	}
	if err != nil && !OfData(err) && ctx.Err() == nil {
		d.stats.failures.Add(1)
	}
	return err
}

func (d *DB) ready(ctx context.Context) error {
	if d.migrated.Load() {
		return nil
	}
	if err := d.migrate(ctx); err != nil {
		return err
	}
	d.migrated.Store(true)
	return nil
}

// Suspect has the database probed after a question that was slow. Only a probe that fails opens the circuit.
func (d *DB) Suspect() {
	answers := d.circuit.count()
	d.probe.start(func(err error) {
		if err != nil {
			d.stats.silent.Add(1)
		} else {
			d.stats.answered.Add(1)
		}
		if d.circuit.probed(err, answers) {
			d.log.Info("database is back")
		}
	})
}

// AskAgain asks a database that is known to be away whether it is back, where nobody has done so in this moment. One that is not away is asked nothing.
func (d *DB) AskAgain(ctx context.Context) {
	if _, err := d.circuit.state(); err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, d.probe.within)
	defer cancel()
	_ = d.guard(ctx, func() error { return d.sql.PingContext(ctx) })
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
