// Package mariadbtest gives tests a real MariaDB: one server for the whole test binary, a
// fresh database for each DSN.
package mariadbtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

const startWithin = 60 * time.Second

// DB is one MariaDB server.
type DB struct {
	tb     testing.TB
	server *server
}

// shared is the test binary's server, and how many tests (and Main) use it.
var shared struct {
	sync.Mutex
	server  *server
	holders int
}

// Main runs the tests of a package with one shared server, from its first use to the end. Without Main the
// server ends as soon as no test uses it, and the next test starts another.
func Main(m interface{ Run() int }) int {
	shared.Lock()
	shared.holders++
	shared.Unlock()
	defer release()
	return m.Run()
}

// Start gives the test the binary's server.
func Start(tb testing.TB) *DB {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		s := &server{}
		if err := s.start(); err != nil {
			s.remove()
			tb.Fatalf("mariadbtest: %v", err)
		}
		shared.server = s
	}
	shared.holders++
	tb.Cleanup(release)
	return &DB{tb: tb, server: shared.server}
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

// DSN makes a fresh database and returns its address for the driver "mysql".
func (d *DB) DSN() string {
	d.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	name := fmt.Sprintf("test_%d", d.server.databases.Add(1))
	if err := d.server.exec(ctx, "CREATE DATABASE "+name); err != nil {
		d.tb.Fatalf("mariadbtest: create database: %v", err)
	}
	return d.server.dsn(name)
}
