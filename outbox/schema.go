package outbox

import _ "embed"

//go:embed schema/sqlite.sql
var sqliteSchema string

//go:embed schema/postgres.sql
var postgresSchema string

// Schema makes the table on an empty database. Whoever owns the database runs it as one of its migrations.
func Schema(d Dialect) string {
	if d == Postgres {
		return postgresSchema
	}
	return sqliteSchema
}
