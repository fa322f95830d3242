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
	connectedFor  = 5 * time.Minute // behind one address another server may stand by then

	// idleTimeout ends the transaction of a replica that freezes within it, which would hold its rooms for ever.
	idleTimeout = "10s"
	idleSetting = "idle_in_transaction_session_timeout"
)

// postgres makes the connections of a pool. Each leads to a server that takes writes. A connection that is
// refused a write, or ended by the server, is not used again, and neither are all others: behind one address
// there may be another server by now.
//
// Behind a pooler of transactions (pgbouncer) a session is another client's from transaction to transaction.
// So nothing there belongs to a session: no setting at the start that a pooler does not know, no lock, and,
// once a pooler is noticed, no setting and no named prepared statement.
type postgres struct {
	cfg    *pgx.ConnConfig
	idle   string       // idleSetting's value, for sessions without a pooler and for each transaction
	pooled atomic.Bool  // a pooler is between
	age    atomic.Int64 // grows when the present connections cannot be trusted any more
}

// newPostgres returns the connector of an address. anyServer accepts servers that take no writes, unless the
// address asks for certain ones.
func newPostgres(cfg *pgx.ConnConfig, anyServer bool) *postgres {
	p := &postgres{cfg: cfg.Copy(), idle: idleTimeout}
	if p.cfg.ConnectTimeout == 0 {
		p.cfg.ConnectTimeout = connectWithin
	}
	if p.cfg.RuntimeParams["application_name"] == "" {
		p.cfg.RuntimeParams["application_name"] = "waitroom"
	}
	// the server's, a role's or the environment's own may differ; poolers know it
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

// ended reports whether a code makes connections useless. The server takes no writes, shuts down or reports
// the connection itself.
func ended(code string) bool {
	return code == readOnlyTransaction || strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08")
}

// distrust closes every present connection before its next use.
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

// noticePooler finds out whether a pooler stands between waitroom and the database. A pooler invents
// the process id that it sends a client for cancelling statements, so it differs from the id of the
// process that serves the statement. Without a pooler the session gets its idle limit, which the
// outbox's transactions have too.
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
