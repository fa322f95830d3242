package testproc

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// Ports are taken from below the range the kernel gives to outgoing connections. Inside that range a client
// that redials a stopped server can connect to itself and then keep the server from coming back.
const (
	lowestPort = 15_000
	portCount  = 15_000
)

var given = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// FreePort returns a port of 127.0.0.1 without a listener that this test binary has not used before. Another
// process can still take it first, so the caller checks that it talks to its own child.
func FreePort(tb testing.TB) int {
	tb.Helper()
	port, err := Port()
	if err != nil {
		tb.Fatal(err)
	}
	return port
}

// Port is FreePort outside of a test.
func Port() (int, error) {
	given.Lock()
	defer given.Unlock()
	for range 1000 {
		port := lowestPort + rand.IntN(portCount)
		if given.ports[port] || !free(port) {
			continue
		}
		given.ports[port] = true
		return port, nil
	}
	return 0, errors.New("found no free port")
}

func free(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
