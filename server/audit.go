package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger"
)

// errAudit reports that the audit was altered.
var errAudit = errors.New("support's audit is not as it was written")

// VerifyAudit verifies the audit's chain of hashes and writes the result to out. It returns an error if a row
// was edited or is missing, or if the ledger cannot be read.
func VerifyAudit(ctx context.Context, cfg Config, out io.Writer) error {
	if err := cfg.ledgerIsThere(); err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	db, err := sqldb.Open(ctx, sqldb.Config{URL: string(cfg.DatabaseURL), Migrations: ledger.Migrations(),
		Log: log})
	if err != nil {
		return fmt.Errorf("%s: %w", called("database-url"), err)
	}
	defer func() { _ = db.Close() }()
	l := ledger.New(ledger.Config{DB: db, Log: log})
	defer l.Close()
	report, err := l.VerifyAudit(ctx)
	if err != nil {
		return err
	}
	for _, f := range report.Faults {
		fmt.Fprintf(out, "WRONG   %s: row %d %s\n", f.Room, f.Seq, f.What)
	}
	fmt.Fprintf(out, "audit   %d rows verified; of %d the texts were rewritten by an erasure; %d rows are "+
		"in no chain (from before it, or past the retention)\n",
		report.Rows, report.Erased, report.Outside)
	fmt.Fprintf(out, "ends    %s (note it elsewhere: where it changes though support did nothing, a person "+
		"has rewritten the audit)\n", report.Heads)
	if len(report.Faults) > 0 {
		return errAudit
	}
	return nil
}
