package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/waitroom/waitroom/internal/sqldb"
)

const oldestPostgres = 120_000 // in the form of server_version_num

// database checks the ledger's database. It creates no table: the server's first start does.
func (d *doctor) database(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if path, ok := strings.CutPrefix(d.DatabaseURL, "sqlite:"); ok {
		d.sqlite(ctx, path)
	} else {
		d.postgres(ctx)
	}
	if !d.any("database") {
		d.fine("database", "The ledger has all that it needs.")
	}
}

// sqlite checks whether the file, if there is one, and the nearest existing directory can be written.
func (d *doctor) sqlite(ctx context.Context, path string) {
	const another = "Name another path in WAITROOM_DATABASE_URL."
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			d.wrong("database", "Name a file in it.", "%s is a directory.", path)
			return
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			_ = file.Close()
			err = d.writes(ctx)
		}
		if err != nil && !sqldb.Temporary(err) { // another server may be writing
			d.unwritten(path, err)
			return
		}
	}
	dir := filepath.Dir(sqldb.FileAt(path))
	for {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			d.wrong("database", another, "%s is no directory.", dir)
			return
		}
		if err == nil {
			break
		}
		if parent := filepath.Dir(dir); parent == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	file, err := os.CreateTemp(dir, ".waitroom-doctor-*")
	if err == nil {
		err = fill(file)
		_ = os.Remove(file.Name())
	}
	if err == nil {
		err = roomFor(freeOn(dir))
	}
	if err != nil {
		d.unwritten(dir, err)
	}
}

// leastRoom is how many bytes have to be free on the ledger's disk. An empty file fits on a full one.
const leastRoom = 1 << 20

// fill writes so many bytes, and closes the file.
func fill(file *os.File) error {
	_, err := file.Write(make([]byte, leastRoom))
	return errors.Join(err, file.Close())
}

// roomFor returns an error if a disk has less than leastRoom free for programs that do not run as root. On a
// full disk root, who often runs the doctor, can still write where the file system keeps a part for root.
// free is -1 if it is not known.
func roomFor(free int64) error {
	if free < 0 || free >= leastRoom {
		return nil
	}
	return fmt.Errorf("for users other than root: %w", syscall.ENOSPC)
}

// unwritten reports an SQLite file, or its directory, that cannot be written.
func (d *doctor) unwritten(path string, err error) {
	d.wrong("database", sentence(sqldb.FileRemedy(err)), "%s can not be written: %v.", path, err)
}

// writes begins a write to an existing file, as the server does, and rolls it back.
func (d *doctor) writes(ctx context.Context) error {
	pool, err := sqldb.Connect(d.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	return sqldb.TakesWrites(ctx, pool)
}

// postgres connects exactly as the server does.
func (d *doctor) postgres(ctx context.Context) {
	pool, err := sqldb.Connect(d.DatabaseURL)
	if err != nil {
		d.wrong("database", "Correct WAITROOM_DATABASE_URL: postgres://user:password@host:5432/database",
			"%s", oneSentence(err))
		return
	}
	defer func() { _ = pool.Close() }()
	if err := pool.PingContext(ctx); err != nil {
		d.wrong("database", whyNoDatabase(err), "%s", oneSentence(err))
		return
	}
	var version int
	var mayCreate bool
	var encoding, user string
	var schema *string
	err = pool.QueryRowContext(ctx, `SELECT CAST(current_setting('server_version_num') AS INT),
		current_setting('server_encoding'), current_user, current_schema(),
		COALESCE(has_schema_privilege(current_schema(), $1), false)`, "CREATE").
		Scan(&version, &encoding, &user, &schema, &mayCreate)
	switch {
	case err != nil:
		d.wrong("database", "Look at its log.", "It does not answer: %s", oneSentence(err))
	case encoding != sqldb.Encoding:
		d.wrong("database", "CREATE DATABASE … ENCODING '"+sqldb.Encoding+"' TEMPLATE template0, and name "+
			"that in WAITROOM_DATABASE_URL.", "Its encoding is %s, which has not every letter.", encoding)
	case schema == nil:
		d.wrong("database", "CREATE SCHEMA public, or set search_path for the user.",
			"The user %s has no schema to write into.", user)
	case !mayCreate:
		d.wrong("database", fmt.Sprintf("GRANT CREATE, USAGE ON SCHEMA %s TO %s.", *schema, user),
			"The user %s may make no tables in the schema %s: migrations fail.", user, *schema)
	}
	if err == nil && version < oldestPostgres {
		d.wrong("database", "Upgrade it to 12 or newer.", "It is version %d.", version/10_000)
	}
}

func whyNoDatabase(err error) string {
	switch text := err.Error(); {
	case sqldb.RefusesParameter(err):
		return "Please " + sqldb.ParameterAdvice + "."
	case errors.Is(err, pgconn.ErrReadOnlyConnection):
		return "It is read-only: give the primary's address, or ALTER DATABASE or ALTER ROLE … SET " +
			"default_transaction_read_only = off."
	case strings.Contains(text, "no pg_hba.conf entry"), strings.Contains(text,
		"Ident authentication failed"), strings.Contains(text, "Peer authentication failed"):
		return "Have its pg_hba.conf let this host in by password, above every line that fits sooner: " +
			"host DATABASE USER THIS-HOST/32 scram-sha-256" +
			" (hostssl for TLS alone); then SELECT pg_reload_conf()."
	case strings.Contains(text, "password authentication failed"), strings.Contains(text,
		"28P01"), strings.Contains(text, "28000"):
		return "Correct the user or the password in WAITROOM_DATABASE_URL, or pg_hba.conf."
	case strings.Contains(text, "3D000"):
		return "CREATE DATABASE it, or correct its name in WAITROOM_DATABASE_URL."
	case strings.Contains(text, "tls"), strings.Contains(text, "SSL"):
		return "Does it speak TLS? Add sslmode=require, or sslmode=disable within a network that you trust."
	}
	return "Is it up, and may this host reach it? Is the address in WAITROOM_DATABASE_URL right?"
}

// oneSentence returns a driver's error on one line. Package sqldb never uses an address with which a driver's
// error could contain a part of the password.
func oneSentence(err error) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(err.Error()), " "), ".") + "."
}
