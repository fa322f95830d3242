package pgtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// Standby copies the server and starts the copy, which follows it. It ends with the test.
func (d *DB) Standby() *DB {
	d.tb.Helper()
	s, err := d.server.follower()
	d.tb.Cleanup(s.remove)
	if err != nil {
		d.tb.Fatalf("pgtest: standby: %v", err)
	}
	return &DB{tb: d.tb, server: s}
}

func (s *server) follower() (_ *server, err error) {
	f := &server{bin: s.bin, owner: s.owner}
	if f.port, err = testproc.Port(); err != nil {
		return f, err
	}
	if f.dir, err = tempDir(f.owner); err != nil {
		return f, err
	}
	backup := f.command("pg_basebackup", "-D", f.data(), "-d", s.url("postgres"), "-R", "-c", "fast",
		"--no-sync")
	if out, err := backup.CombinedOutput(); err != nil {
		return f, fmt.Errorf("%w\n%s", err, out)
	}
	return f, f.start()
}

// Promote makes a standby a primary that accepts writes, once it has all of its primary's writes so far.
func (d *DB) Promote(primary *DB) {
	d.tb.Helper()
	var at string
	primary.ask(`SELECT pg_current_wal_lsn()::text`, &at)
	testproc.Until(d.tb, startWithin, func() error {
		var has bool
		if d.ask(fmt.Sprintf(`SELECT COALESCE(pg_last_wal_replay_lsn() >= '%s', false)`, at), &has); !has {
			return fmt.Errorf("the standby has not come to %s", at)
		}
		return nil
	})
	var done bool
	if d.ask(`SELECT pg_promote()`, &done); !done {
		d.tb.Fatal("pgtest: the standby is not promoted")
	}
}

// Fence makes the server refuse writes, in open sessions too, as a server does that must not be the primary
// any more. The end of the test undoes it, since another test may use the server next.
func (d *DB) Fence() {
	d.tb.Helper()
	d.tb.Cleanup(func() {
		d.ask(`ALTER SYSTEM RESET default_transaction_read_only`)
		d.ask(`SELECT pg_reload_conf()`, new(bool))
	})
	d.ask(`ALTER SYSTEM SET default_transaction_read_only = on`)
	d.ask(`SELECT pg_reload_conf()`, new(bool))
}

// HangUp makes the server end all sessions, as a stopped or demoted server does.
func (d *DB) HangUp() {
	d.tb.Helper()
	var ended int
	d.ask(`SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`, &ended)
}

func (d *DB) ask(query string, into ...any) {
	d.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	conn, err := pgx.Connect(ctx, d.server.url("postgres"))
	if err == nil {
		defer func() { _ = conn.Close(ctx) }()
		if len(into) == 0 {
			_, err = conn.Exec(ctx, query)
		} else {
			err = conn.QueryRow(ctx, query).Scan(into...)
		}
	}
	if err != nil {
		d.tb.Fatalf("pgtest: %s: %v", query, err)
	}
}

// Address is an address that leads to one server and can be moved to another.
type Address struct {
	tb testing.TB
	at net.Listener

	mu sync.Mutex
	to string
}

// Behind returns an address that leads to a server, and the URL of a database through it.
func (d *DB) Behind(databaseURL string) (a *Address, moved string) {
	d.tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		d.tb.Fatalf("pgtest: %v", err)
	}
	a = &Address{tb: d.tb, at: l}
	a.Move(d)
	d.tb.Cleanup(func() { _ = l.Close() })
	go a.accept()
	_, rest, _ := strings.Cut(databaseURL, fmt.Sprint("127.0.0.1:", d.server.port))
	return a, (&url.URL{Scheme: "postgres", User: url.User("postgres"), Host: l.Addr().String()}).String() + rest
}

// Move makes the address lead to another server. Open connections stay with the old one.
func (a *Address) Move(to *DB) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.to = fmt.Sprint("127.0.0.1:", to.server.port)
}

func (a *Address) accept() {
	for {
		from, err := a.at.Accept()
		if err != nil {
			return
		}
		a.mu.Lock()
		to := a.to
		a.mu.Unlock()
		go join(from, to)
	}
}

func join(from net.Conn, addr string) {
	defer func() { _ = from.Close() }()
	to, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	var both sync.WaitGroup
	for _, way := range [2][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			_, _ = way[1].(*net.TCPConn).ReadFrom(way[0])
			_ = way[0].Close()
			_ = way[1].Close()
		})
	}
	both.Wait()
}
