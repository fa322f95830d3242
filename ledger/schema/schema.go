// Package schema has what the packages that write, read and trim the ledger's tables must agree on.
package schema

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room/wire"
)

//go:embed migrations
var migrations embed.FS

// Migrations returns the tables of a ledger: its own, and the outbox's, which match outbox.Schema.
func Migrations() sqldb.Migrations {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is fixed
	}
	return sqldb.Migrations{Files: files}
}

// IdentityOf returns the random name that the database got when it was made. A URL would not tell databases
// apart: it differs by user and host for one database, and is the same for a file's path on two hosts. The
// error is the driver's if the database is not migrated yet.
func IdentityOf(ctx context.Context, db dialect.Querier) (id string, err error) {
	err = db.QueryRowContext(ctx, `SELECT id FROM identity`).Scan(&id)
	return id, err
}

// Erasure is the action that records an erasure, in wire.SupportRoom; its seller is the pseudonym.
const Erasure = "erased"

// WholeSecond is the coarsest precision of a carrier's time, in ms.
const WholeSecond = 1000

// Plain returns the text as every database accepts it: valid UTF-8 without NUL.
func Plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// HighWater holds the highest trimmed values of a room that rules depend on. Ticket is of Epoch. Settled is
// the highest fence with a verification, SettledUntil the latest end (unix ms) of a lease with one.
type HighWater struct{ Fence, Epoch, Ticket, Settled, SettledUntil int64 }

// HighWaterOf reads a room's mark. found is false for a room that was never trimmed.
func HighWaterOf(s sqldb.Session, id wire.ID) (h HighWater, found bool, err error) {
	err = s.Row(`SELECT fence, epoch, ticket, settled, settled_until FROM high_water WHERE room = $1`,
		string(id)).Scan(&h.Fence, &h.Epoch, &h.Ticket, &h.Settled, &h.SettledUntil)
	if errors.Is(err, sql.ErrNoRows) {
		return HighWater{}, false, nil
	}
	return h, err == nil, err
}

// Conditions are an SQL condition and its parameters.
type Conditions struct {
	List []string
	Args []any
}

// Param adds a parameter, and returns its name in the statement.
func (q *Conditions) Param(value any) string {
	q.Args = append(q.Args, value)
	return fmt.Sprintf("$%d", len(q.Args))
}

// Add adds a condition, with the value in place of %s.
func (q *Conditions) Add(condition string, value any) {
	q.List = append(q.List, fmt.Sprintf(condition, q.Param(value)))
}

// AddIf adds a condition unless its value is zero: "" or 0.
func (q *Conditions) AddIf(condition string, value any) {
	if value != "" && value != int64(0) {
		q.Add(condition, value)
	}
}

// Where returns the condition that all of the list hold.
func (q *Conditions) Where() string { return strings.Join(q.List, " AND ") }
