package outbox

import _ "embed"

//go:embed schema/sqlite.sql
var sqliteSchema string

//go:embed schema/postgres.sql
var postgresSchema string

//go:embed schema/mysql.sql
var mysqlSchema string

// Schema returns the SQL that creates the table outbox_tasks. The owner of the database runs it as one of its
// migrations. For MySQL it is one statement; for the others several, which their drivers accept at once.
func Schema(d Dialect) string {
	switch d {
	case Postgres:
		return postgresSchema
	case MySQL:
		return mysqlSchema
	default:
		return sqliteSchema
	}
}
