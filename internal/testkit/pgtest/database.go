package pgtest

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// fileCopySince is the first server that copies a database block by block through its log by default; copying
// files takes a third of the time.
const fileCopySince = 150_000

// admin is a connection that makes databases, one at a time.
type admin struct {
	sync.Mutex
	conn *pgx.Conn
}

func (s *server) create(ctx context.Context) (name string, err error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	if s.admin.conn == nil || s.admin.conn.Ping(ctx) != nil { // the server may have been restarted
		if s.admin.conn, err = pgx.Connect(ctx, s.url("postgres")); err != nil {
			return "", err
		}
	}
	name = s.nextDatabase()
	statement := "CREATE DATABASE " + name
	if s.version >= fileCopySince {
		statement += " STRATEGY file_copy"
	}
	if _, err := s.admin.conn.Exec(ctx, statement); err != nil {
		return "", fmt.Errorf("%s: %w", statement, err)
	}
	return name, nil
}

// createIn makes a database in another encoding. The server copies only template0 into one, and checks only
// its name; there is none (see dropTemplate0), so it is made for the occasion.
func (s *server) createIn(ctx context.Context, encoding string) (name string, err error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	name = s.nextDatabase()
	for _, statement := range []string{"CREATE DATABASE template0", "CREATE DATABASE " + name +
		" TEMPLATE template0 ENCODING '" + encoding + "'", "DROP DATABASE template0"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return "", fmt.Errorf("%s: %w", statement, err)
		}
	}
	return name, nil
}

func (a *admin) close() {
	a.Lock()
	defer a.Unlock()
	if a.conn != nil {
		_ = a.conn.PgConn().Conn().Close() // without a message, which a frozen server would not receive
		a.conn = nil
	}
}
