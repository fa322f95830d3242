package redistest

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// databases is the number of databases of the shared server. After the last one the first is used again,
// emptied.
const databases = 1000

// shared is the test binary's server and the number of its users.
var shared struct {
	sync.Mutex
	server *Server
	dir    string
	kept   bool // until the end of the binary: Main runs the tests
	users  int  // tests with a database of it
	lent   bool // to one test, whole
	next   int  // database
}

// Main runs the tests of a package whose tests share one server from first use to the end of the binary.
// Without it the server ends whenever no test uses it, and the next test starts another.
//
//	func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }
func Main(m interface{ Run() int }) int {
	shared.kept = true
	defer func() {
		shared.kept = false
		endUnused()
	}()
	return m.Run()
}

// Shared gives the test a client of an empty database on the binary's server, which the end of the test
// closes. All tests share the server's clock, settings, scripts, channels and FLUSHALL: a test that changes
// or counts them uses Start.
func Shared(tb testing.TB) *redis.Client {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.lent {
		return Start(tb).Client()
	}
	startShared(tb)
	shared.users++
	tb.Cleanup(func() { giveBack(func() { shared.users-- }) })
	shared.next++
	client := redis.NewClient(&redis.Options{Addr: shared.server.Addr(), DB: shared.next % databases})
	tb.Cleanup(func() { _ = client.Close() })
	if err := client.FlushDB(tb.Context()).Err(); err != nil {
		tb.Fatalf("redistest: %v", err)
	}
	return client
}

// Lent gives the test the whole of the binary's server, emptied, until the test ends. The test must neither
// stop it nor change its settings. While another test uses the server, it is one of the test's own.
func Lent(tb testing.TB) *Server {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.lent || shared.users > 0 {
		return Start(tb)
	}
	startShared(tb)
	shared.lent = true
	tb.Cleanup(func() { giveBack(func() { shared.lent = false }) })
	s := *shared.server
	s.tb, s.client = tb, nil
	ctx := context.Background()
	if err := errors.Join(s.Client().FlushAll(ctx).Err(), s.Client().ScriptFlush(ctx).Err()); err != nil {
		tb.Fatalf("redistest: %v", err)
	}
	return &s
}

func startShared(tb testing.TB) {
	tb.Helper()
	if shared.server != nil {
		return
	}
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		tb.Fatal(err)
	}
	shared.dir, shared.server = dir,
		launchServer(tb, dir, Config{Args: []string{"--databases", strconv.Itoa(databases)}})
}

func giveBack(what func()) {
	shared.Lock()
	defer shared.Unlock()
	what()
	endUnused()
}

func endUnused() {
	if shared.kept || shared.lent || shared.users > 0 || shared.server == nil {
		return
	}
	shared.server.Kill()
	_ = os.RemoveAll(shared.dir)
	shared.server = nil
}
