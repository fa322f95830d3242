package faults

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// onDatabase takes the database away for a while. Sellers must not notice it, and a replica has to report the
// ledger as behind.
func onDatabase(name string, d time.Duration, take, giveBack func(ctx context.Context, r *Run) error) Step {
	return Step{name, func(ctx context.Context, r *Run) error {
		if r.database == nil {
			return fmt.Errorf("there is no PostgreSQL here")
		}
		since := r.history.Len()
		err := r.fault(name, nil, func() (string, error) {
			if err := take(ctx, r); err != nil {
				return "", err
			}
			behind := r.saysBehind(ctx, d)
			if err := giveBack(context.WithoutCancel(ctx), r); err != nil {
				return "", err
			}
			if behind == 0 {
				return "", fmt.Errorf("%w: no replica says that its ledger is behind", errUnmet)
			}
			return fmt.Sprintf("readyz named the ledger as behind %d times", behind), ctx.Err()
		})
		if failed := r.failedCalls(since); err == nil && failed > 0 {
			r.trouble(SellersNoticed, "%s: %d calls failed", name, failed)
		}
		return err
	}}
}

func (r *Run) failedCalls(since int) (n int) {
	for _, rec := range r.history.Since(since) {
		if rec.Kind == KindCall && (rec.Error != "" || rec.HTTP >= 500) {
			n++
		}
	}
	return n
}

// saysBehind counts how often replicas report the ledger as behind, for a while.
func (r *Run) saysBehind(ctx context.Context, d time.Duration) (n int) {
	for began := time.Now(); time.Since(began) < d && pause(ctx, 100*time.Millisecond) == nil; {
		for _, p := range r.replicas {
			resp, err := p.client.Get("http://" + p.addr + "/readyz")
			if err != nil {
				continue
			}
			text, _ := io.ReadAll(resp.Body) // what was read is looked at
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				r.trouble(SellersNoticed, "%s: readyz answers %s while the database is away", p.name, resp.Status)
			}
			if strings.Contains(string(text), `"ledger":"behind"`) {
				n++
			}
		}
	}
	return n
}

func stopDatabase(d time.Duration) Step {
	return onDatabase("database stopped", d,
		func(_ context.Context, r *Run) error { r.database.Stop(); return nil },
		func(_ context.Context, r *Run) error { r.database.Start(); return nil })
}

func freezeDatabase(d time.Duration) Step {
	return onDatabase("database frozen", d,
		func(_ context.Context, r *Run) error { r.database.Freeze(); return nil },
		func(_ context.Context, r *Run) error { r.database.Thaw(); return nil })
}

// fillDatabase makes PostgreSQL refuse every row with the error of a full disk.
func fillDatabase(d time.Duration) Step {
	return onDatabase("database full", d, func(ctx context.Context, r *Run) error {
		return r.sql(ctx, `CREATE OR REPLACE FUNCTION faults_full() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`,
			`CREATE TRIGGER faults_full BEFORE INSERT ON timeline FOR EACH STATEMENT EXECUTE FUNCTION faults_full()`,
			`CREATE TRIGGER faults_full BEFORE INSERT ON messages FOR EACH STATEMENT EXECUTE FUNCTION faults_full()`)
	}, func(ctx context.Context, r *Run) error {
		return r.sql(ctx, `DROP TRIGGER faults_full ON timeline`, `DROP TRIGGER faults_full ON messages`)
	})
}

func (r *Run) sql(ctx context.Context, statements ...string) error {
	db, err := sql.Open(r.driver, r.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
