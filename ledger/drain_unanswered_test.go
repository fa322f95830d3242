package ledger_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/room"
)

// cutter is an address in front of PostgreSQL that cuts a client off right before or right after its commit
// arrives.
type cutter struct {
	to     string
	after  atomic.Bool
	before atomic.Bool
}

func newCutter(t *testing.T, databaseURL string) (m *cutter, moved string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	m = &cutter{to: u.Host}
	u.Host = l.Addr().String()
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(client)
		}
	}()
	return m, u.String()
}

func (m *cutter) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", m.to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var muted atomic.Bool
	go func() {
		defer func() { _ = client.Close() }()
		answer := make([]byte, 64<<10)
		for {
			n, err := server.Read(answer)
			if err != nil || muted.Load() { // the server has committed by then
				return
			}
			if _, err := client.Write(answer[:n]); err != nil {
				return
			}
		}
	}()
	question := make([]byte, 64<<10)
	for {
		n, err := client.Read(question)
		if err != nil {
			return
		}
		if commits := bytes.Contains(question[:n], []byte("commit\x00")); commits &&
			m.before.CompareAndSwap(true, false) {
			return
		} else if commits && m.after.CompareAndSwap(true, false) {
			muted.Store(true)
		}
		if _, err := io.Copy(server, bytes.NewReader(question[:n])); err != nil {
			return
		}
	}
}

// A drain whose commit got no answer finds its entries applied when it retries. The end of the test checks
// that they are counted once.
func TestCommitWithoutAnAnswerIsCountedOnce(t *testing.T) {
	for name, arm := range map[string]func(*cutter){
		"it happened":     func(m *cutter) { m.after.Store(true) },
		"it did not":      func(m *cutter) { m.before.Store(true) },
		"it was answered": func(*cutter) {},
	} {
		t.Run(name, func(t *testing.T) {
			m, url := newCutter(t, pgtest.Start(t).URL())
			b := newBench(url)
			l := b.open(t)
			b.life(1)
			require.NoError(t, l.Drain(t.Context(), here))

			b.write(1, joined(2), granted(2), ended(2, room.Expired))
			b.write(1, room.Record{Type: "incident", At: 40, Action: "message_refused",
				MessageNote: room.MessageNote{MessageID: "9"}})
			arm(m)
			failed := l.Drain(t.Context(), here)
			require.Equal(t, name == "it was answered", failed == nil, failed)
			if failed != nil {
				b.now.Move(5e9)
				require.NoError(t, l.Drain(t.Context(), here))
			}
			sums, _ := b.counters.sums(t)
			require.Equal(t, map[string]int{"joined": 2, "granted": 2, "place completed": 1, "place expired": 1,
				"lease completed": 1,
				"lease expired":   1, "message matched ": 1, "incident message_refused": 1}, sums)
			require.Contains(t, b.log.String(), "ledger incident")
		})
	}
}
