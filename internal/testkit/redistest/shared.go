package redistest

import (
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// databases is how many the shared server has. After the last one the first is given again, emptied.
const databases = 1000

// shared is the binary's server and how many tests (and Main) hold it.
var shared struct {
	sync.Mutex
	server  *Server
	dir     string
	holders int
	next    int
}

// Main runs the tests of a package whose tests share one server from first use to the end of the binary. Without it
// the server ends whenever no test uses it, and the next test starts another.
//
//	func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }
func Main(m *testing.M) int {
	shared.Lock()
	shared.holders++
	shared.Unlock()
	defer release()
	return m.Run()
}

// Shared gives the test a client of an empty database on the binary's server, which the end of the test closes. The server's clock,
// settings, scripts, channels and FLUSHALL are everybody's: a test that changes them, or that runs beside others, uses Start.
func Shared(tb testing.TB) *redis.Client {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		startShared(tb)
	}
	shared.holders++
	tb.Cleanup(release)
	shared.next++
	client := redis.NewClient(&redis.Options{Addr: shared.server.Addr(), DB: shared.next % databases})
	tb.Cleanup(func() { _ = client.Close() })
	if err := client.FlushDB(tb.Context()).Err(); err != nil {
		tb.Fatalf("redistest: %v", err)
	}
	return client
}

func startShared(tb testing.TB) {
	tb.Helper()
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		tb.Fatal(err)
	}
	shared.dir, shared.server = dir, launchServer(tb, dir, Config{Args: []string{"--databases", strconv.Itoa(databases)}})
}

func release() {
	shared.Lock()
	defer shared.Unlock()
	shared.holders--
	if shared.holders == 0 && shared.server != nil {
		shared.server.Kill()
		_ = os.RemoveAll(shared.dir)
		shared.server = nil
	}
}
