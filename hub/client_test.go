package hub_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const clientURL = "HUB_BENCH_CLIENT"

// crowd is many sockets in another process, so that the benchmark measures the hub's memory and time alone.
// The other process reports what the sockets receive as lines with the wall clock in ns: "until expires_at
// ns", "locked ticket ns", "all version ns".
type crowd struct {
	tb    testing.TB
	lines *bufio.Scanner
	end   func()
}

// gather connects one socket per session and returns when each has had a state.
func gather(tb testing.TB, url string, sessions []string) *crowd {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), clientURL+"="+url)
	in, err := cmd.StdinPipe()
	require.NoError(tb, err)
	out, err := cmd.StdoutPipe()
	require.NoError(tb, err)
	cmd.Stderr = os.Stderr
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	require.NoError(tb, err)
	c := &crowd{tb: tb, lines: bufio.NewScanner(out), end: process.Kill}
	_, err = io.WriteString(in, strings.Join(sessions, "\n")+"\n\n")
	require.NoError(tb, err)
	c.next("ready")
	return c
}

// next waits for a line and returns its two numbers.
func (c *crowd) next(kind string) (n, ns int64) {
	for c.lines.Scan() {
		f := strings.Fields(c.lines.Text())
		if f[0] == kind {
			n, _ = strconv.ParseInt(f[1], 10, 64)
			ns, _ = strconv.ParseInt(f[2], 10, 64)
			return n, ns
		}
	}
	require.Fail(c.tb, "the crowd has gone", "waiting for %q", kind)
	return 0, 0
}

// until waits for a line with at least this number and returns its time.
func (c *crowd) until(kind string, number int64) (ns int64) {
	for {
		if n, ns := c.next(kind); n >= number {
			return ns
		}
	}
}

// clientMain runs the other process; it returns false in the process of the tests.
func clientMain() bool {
	url := os.Getenv(clientURL)
	if url == "" {
		return false
	}
	if desk := os.Getenv(watchURL); desk != "" {
		watchMain(desk)
	}
	var sessions []string
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() && in.Text() != "" {
		sessions = append(sessions, in.Text())
	}
	o := &observer{all: len(sessions), received: make(map[int64]int)}
	o.missing.Add(len(sessions))
	slots := make(chan struct{}, 64)
	for _, s := range sessions {
		slots <- struct{}{}
		go func() {
			ws, _, err := websocket.Dial(context.Background(), url,
				&websocket.DialOptions{HTTPHeader: http.Header{"X-Session-ID": {s}}})
			<-slots
			if err != nil {
				fmt.Fprintln(os.Stderr, "dial:", err)
				os.Exit(1)
			}
			o.read(ws)
		}()
	}
	o.missing.Wait()
	o.say("ready", 0)
	select {}
}

type observer struct {
	all      int
	missing  sync.WaitGroup
	mu       sync.Mutex
	received map[int64]int
}

func (o *observer) read(ws *websocket.Conn) {
	first := true
	var buf [1024]byte
	for {
		_, r, err := ws.Reader(context.Background())
		if err != nil {
			return
		}
		n, _ := io.ReadFull(r, buf[:])
		text := buf[:n]
		if !bytes.Contains(text, []byte(`"type":"state"`)) {
			_ = ws.Write(context.Background(), websocket.MessageText, []byte(`{"type":"pong"}`))
			continue
		}
		if bytes.Contains(text, []byte(`"status":"locked"`)) {
			o.mu.Lock()
			o.say("until", number(text, `"lease_expires_at":`))
			o.say("locked", number(text, `"ticket":`))
			o.mu.Unlock()
		}
		if first {
			first = false
			o.missing.Done()
		}
		o.count(number(text, `"version":`))
	}
}

func (o *observer) count(version int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.received[version]++; o.received[version] == o.all {
		o.say("all", version)
		clear(o.received)
	}
}

func (o *observer) say(kind string, n int64) {
	fmt.Printf("%s %d %d\n", kind, n, time.Now().UnixNano())
}

func number(text []byte, name string) int64 {
	_, rest, _ := bytes.Cut(text, []byte(name))
	n := int64(0)
	for _, d := range rest {
		if d < '0' || d > '9' {
			break
		}
		n = n*10 + int64(d-'0')
	}
	return n
}
