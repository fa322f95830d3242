package sqldb

import (
	"context"
	"database/sql"
	"sync"
)

// statements keeps SQLite's compiled statements: compiling one takes as long as running it. The PostgreSQL
// driver does so by itself.
type statements struct {
	mu   sync.Mutex
	byID map[string]*sql.Stmt
}

// prepared runs a transaction's statements through the kept ones.
type prepared struct {
	tx         *sql.Tx
	db         *sql.DB
	statements *statements
}

func (p prepared) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	p.statements.mu.Lock()
	defer p.statements.mu.Unlock()
	s := p.statements.byID[query]
	if s == nil {
		var err error
		if s, err = p.db.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
		if p.statements.byID == nil {
			p.statements.byID = make(map[string]*sql.Stmt)
		}
		p.statements.byID[query] = s
	}
	return p.tx.StmtContext(ctx, s), nil
}

func (p prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

func (p prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

func (p prepared) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := p.statement(ctx, query)
	if err != nil {
		return p.tx.QueryRowContext(ctx, query, args...) // which fails by itself
	}
	return s.QueryRowContext(ctx, args...)
}
