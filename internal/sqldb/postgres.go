package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	connections   = 8
	connectWithin = 3 * time.Second
	connectedFor  = 5 * time.Minute // another server may have the same address by then

	// idleTimeout ends the transaction of a frozen replica, which would hold its rooms for ever.
	idleTimeout = "10s"
	idleSetting = "idle_in_transaction_session_timeout"
)

// postgres makes the connections of a pool. Each leads to a server that takes writes. After a refused write,
// or when the server ends a connection, no existing connection is used again: the address may lead to another
// server by now.
//
// Behind a pooler of transactions (pgbouncer) a session belongs to another client after each transaction. So
// nothing depends on a session: no setting at the start that a pooler does not know, no lock, and, once a
// pooler is noticed, no setting and no named prepared statement.
type postgres struct {
	cfg    *pgx.ConnConfig
	reread func() (string, error) // see Config.Reread
	// idle is the value of idleSetting: of sessions without a pooler, and of each of our transactions.
	idle   string
	pooled atomic.Bool  // a pooler was noticed
	age    atomic.Int64 // grows when existing connections can no longer be trusted
}

// newPostgres returns a connector for an address. anyServer accepts servers that take no writes, unless the
// address asks for certain ones.
func newPostgres(cfg *pgx.ConnConfig, anyServer bool) *postgres {
	p := &postgres{cfg: cfg.Copy(), idle: idleTimeout}
	if p.cfg.ConnectTimeout == 0 {
		p.cfg.ConnectTimeout = connectWithin
	}
	if p.cfg.RuntimeParams["application_name"] == "" {
		p.cfg.RuntimeParams["application_name"] = "waitroom"
	}
	// the server, a role or the environment may set another encoding; poolers know this setting
	p.cfg.RuntimeParams["client_encoding"] = Encoding
	if own := p.cfg.RuntimeParams[idleSetting]; own != "" {
		p.idle = own
		delete(p.cfg.RuntimeParams, idleSetting)
	}
	if p.cfg.ValidateConnect == nil && !anyServer {
		p.cfg.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	keep := p.cfg.OnPgError
	p.cfg.OnPgError = func(c *pgconn.PgConn, err *pgconn.PgError) bool {
		if ended(err.Code) {
			p.distrust()
		}
		return keep(c, err)
	}
	return p
}

const readOnlyTransaction = "25006"

// ended reports whether an error code makes connections useless: the server takes no writes, shuts down or
// names the connection.
func ended(code string) bool {
	return code == readOnlyTransaction || strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08")
}

// distrust closes every existing connection before its next use.
func (p *postgres) distrust() { p.age.Add(1) }

func (p *postgres) pool() *sql.DB {
	db := sql.OpenDB(p)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(connectedFor)
	db.SetConnMaxLifetime(connectedFor)
	return db
}

// Driver implements driver.Connector.
func (p *postgres) Driver() driver.Driver { return stdlib.GetDefaultDriver() }

// Connect implements driver.Connector.
func (p *postgres) Connect(ctx context.Context) (driver.Conn, error) {
	named := !p.pooled.Load()
	conn, err := p.connect(ctx, named)
	if err != nil || !named || !p.pooled.Load() {
		return conn, err
	}
	_ = conn.Close() // it would prepare statements
	return p.connect(ctx, false)
}

func (p *postgres) connect(ctx context.Context, named bool) (driver.Conn, error) {
	cfg := *p.cfg
	if p.reread != nil { // without reread, or while it fails, user and password stay those of the start
		if text, err := p.reread(); err == nil {
			if now, err := parseURL(text); err == nil && now.pg != nil {
				cfg.User, cfg.Password = now.pg.cfg.User, now.pg.cfg.Password
			}
		}
	}
	if !named && cfg.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		cfg.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	age := p.age.Load()
	return stdlib.GetConnector(cfg, stdlib.OptionAfterConnect(p.noticePooler),
		stdlib.OptionResetSession(func(context.Context, *pgx.Conn) error {
			if p.age.Load() != age {
				return driver.ErrBadConn
			}
			return nil
		})).Connect(ctx)
}

// noticePooler detects a pooler between waitroom and the database. A pooler invents the process id that a
// client needs for cancelling statements, so it differs from the id of the serving process. Without a pooler
// the session gets its idle limit, which also covers the outbox's transactions.
func (p *postgres) noticePooler(ctx context.Context, conn *pgx.Conn) error {
	var pid int64
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`,
		pgx.QueryExecModeSimpleProtocol).Scan(&pid); err != nil {
		return err
	}
	if pid != int64(conn.PgConn().PID()) {
		p.pooled.Store(true)
		return nil
	}
	_, err := conn.Exec(ctx, `SELECT set_config($1, $2, false)`, pgx.QueryExecModeExec, idleSetting, p.idle)
	return err
}
