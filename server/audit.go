package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/ledger/schema"
)

// errAudit reports that the audit was altered.
var errAudit = errors.New("support's audit is not as it was written")

// VerifyAudit verifies the audit's chain of hashes and writes the result to out. Since is the digest that an
// earlier run printed; "" = none. It returns an error if a row was edited, was added or is missing, if the
// chain does not go on from the digest, or if the ledger cannot be read.
func VerifyAudit(ctx context.Context, cfg Config, since string, out io.Writer) error {
	if err := cfg.ledgerIsThere(); err != nil {
		return err
	}
	db, err := sqldb.Open(ctx, sqldb.Config{URL: string(cfg.DatabaseURL), Migrations: schema.Migrations(),
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("%s: %w", called("database-url"), err)
	}
	defer func() { _ = db.Close() }()
	report, err := read.New(read.Config{DB: db, Retention: cfg.Retention, Now: time.Now}).VerifyAudit(ctx, since)
	if err != nil {
		return err
	}
	for _, f := range report.Faults {
		fmt.Fprintf(out, "WRONG   %s: row %d %s\n", f.Room, f.Seq, f.What)
	}
	fmt.Fprintf(out, "audit   %d rows verified; of %d the texts were removed by an erasure or the retention\n",
		report.Rows, report.Erased)
	if since != "" && len(report.Faults) == 0 {
		fmt.Fprintf(out, "since   the chains go on from the digest; in %d rooms its row is past the retention\n",
			report.Unproven)
	}
	fmt.Fprintf(out, "ends    %s (note it elsewhere: audit verify --since proves that the chains go on "+
		"from it)\n", report.Heads)
	if len(report.Faults) > 0 {
		return errAudit
	}
	return nil
}
