// Package pgtest gives tests a real PostgreSQL: one server for the whole test binary, a
// fresh database for each URL.
package pgtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

const startWithin = 60 * time.Second

// DB is one PostgreSQL server.
type DB struct {
	tb     testing.TB
	server *server
}

// shared is the test binary's server and the number of its users, Main included. Until Main ends, it also
// keeps the servers that earlier tests got from StartOwn.
var shared struct {
	sync.Mutex
	server  *server
	holders int
	main    bool
	idle    []*server
}

// Main runs the tests of a package whose tests share one server from first use to the end of the binary.
// Without it the server ends whenever no test uses it, and the next test starts another.
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
func Main(m *testing.M) int {
	shared.Lock()
	shared.holders++
	shared.main = true
	shared.Unlock()
	defer func() {
		giveUpIdle()
		release()
	}()
	return m.Run()
}

// Start gives the test the binary's server. A test that has to stop it uses StartOwn, to spare the others.
func Start(tb testing.TB) *DB {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		shared.server = launch(tb)
	}
	shared.holders++
	tb.Cleanup(release)
	return &DB{tb: tb, server: shared.server}
}

// StartOwn gives the test a server of its own, whose outage harms no other test. Under Main a later test may
// get the same one, with other databases.
func StartOwn(tb testing.TB) *DB {
	tb.Helper()
	s := takeIdle()
	if s == nil {
		s = launch(tb)
	}
	tb.Cleanup(func() { s.leave() })
	return &DB{tb: tb, server: s}
}

func takeIdle() *server {
	shared.Lock()
	defer shared.Unlock()
	if len(shared.idle) == 0 {
		return nil
	}
	s := shared.idle[0]
	shared.idle = shared.idle[1:]
	return s
}

// leave keeps the server for a later test if Main runs the tests.
func (s *server) leave() {
	shared.Lock()
	defer shared.Unlock()
	if shared.main && s.signal(syscall.SIGCONT) == nil && s.start() == nil {
		shared.idle = append(shared.idle, s)
		return
	}
	s.remove()
}

func giveUpIdle() {
	shared.Lock()
	defer shared.Unlock()
	shared.main = false
	for _, s := range shared.idle {
		s.remove()
	}
	shared.idle = nil
}

func release() {
	shared.Lock()
	defer shared.Unlock()
	shared.holders--
	if shared.holders == 0 && shared.server != nil {
		shared.server.remove()
		shared.server = nil
	}
}

// URL makes a fresh database and returns its DATABASE_URL.
func (d *DB) URL() string {
	d.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	name, err := d.server.create(ctx)
	if err != nil {
		d.tb.Fatalf("pgtest: create database: %v", err)
	}
	return d.server.url(name)
}

// URLIn is URL of a database in another encoding, such as LATIN1.
func (d *DB) URLIn(encoding string) string {
	d.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	name, err := d.server.createIn(ctx, encoding)
	if err != nil {
		d.tb.Fatalf("pgtest: create database in %s: %v", encoding, err)
	}
	return d.server.url(name)
}

// Stop is an outage: connections break and new ones are refused until Start.
func (d *DB) Stop() { d.server.stop() }

// Start ends an outage; it returns when the server answers, with all its data.
func (d *DB) Start() {
	d.tb.Helper()
	if err := d.server.start(); err != nil {
		d.tb.Fatalf("pgtest: %v", err)
	}
}

// Serve runs a server outside of a test, with one database. It returns the database's URL, and a function
// that stops the server and deletes its data. The settings, such as fsync=on, override the unsafe fast ones
// of tests.
func Serve(settings ...string) (url string, stop func(), err error) {
	s, err := newServer()
	if err == nil {
		err = s.initData()
	}
	if err == nil {
		s.settings = settings
		err = s.start()
	}
	if err != nil {
		s.remove()
		return "", nil, fmt.Errorf("pgtest: %w", err)
	}
	return s.url("postgres"), s.remove, nil
}

// launch makes a cluster of databases and starts its server.
func launch(tb testing.TB) *server {
	tb.Helper()
	s, err := launched()
	if err != nil && s.kept != "" {
		_ = os.RemoveAll(s.kept) // it may be the cause
		s, err = launched()
	}
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	return s
}

func launched() (*server, error) {
	s, err := newServer()
	if err == nil {
		err = s.makeData()
	}
	if err == nil {
		// upkeep for large or old databases
		s.settings = []string{"autovacuum=off", "checkpoint_timeout=1d"}
		err = s.start()
	}
	if err != nil {
		s.remove()
	}
	return s, err
}

// owner is the account that runs the server: PostgreSQL refuses root.
func owner() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	a, err := lookUp("postgres")
	if err != nil {
		return nil, fmt.Errorf("postgresql is not installed (%w): run `make setup`", err)
	}
	return a, nil
}
