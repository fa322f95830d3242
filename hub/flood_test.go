package hub_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// clientFrame is a frame as a client sends it, masked with zeros. first is FIN and opcode.
func clientFrame(first byte, payload string) string {
	head := []byte{first, 0x80 | byte(len(payload))}
	if len(payload) > 125 {
		head = binary.BigEndian.AppendUint16([]byte{first, 0x80 | 126}, uint16(len(payload)))
	}
	return string(head) + "\x00\x00\x00\x00" + payload
}

func TestSocketThatSendsWithoutEndIsClosed(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Registerer: registry})
	const text, more, ping, pong = 0x81, 0x00, 0x89, 0x8a
	ours := `{"type":"pong"}`
	for name, c := range map[string]struct {
		first, then string
		times, code int
	}{
		"ten pings": {"", clientFrame(ping, "abc"), 10, 1000},
		"ten pongs of every kind": {strings.Repeat(clientFrame(pong, ""), 3) +
			strings.Repeat(clientFrame(ping, ""), 3), clientFrame(text, ours), 4, 1000},
		"eleven pings":             {"", clientFrame(ping, ""), 11, 4500},
		"eleven pongs":             {"", clientFrame(pong, "abc"), 11, 4500},
		"eleven pongs of the page": {"", clientFrame(text, ours), 11, 4500},
		"eleven of every kind": {strings.Repeat(clientFrame(pong, ""), 4) +
			strings.Repeat(clientFrame(ping, ""), 4), clientFrame(text, ours), 3, 4500},
		"pings in a message":        {clientFrame(0x01, `{"type":`), clientFrame(ping, ""), 11, 4500},
		"thousands of pings":        {"", clientFrame(ping, strings.Repeat("x", 125)), 5000, 4500},
		"a message that never ends": {clientFrame(0x01, ""), clientFrame(more, ""), 5000, 4500},
		"garbage after a bad frame": {clientFrame(text, "x"), clientFrame(text, "y"), 5000, 4500},
		"one long message in pieces": {clientFrame(0x01, "x"), clientFrame(more, strings.Repeat("x", 100)),
			60, 1009},
	} {
		t.Run(name, func(t *testing.T) {
			conn := rawDial(t, r, 0, "")
			// ends with a close frame, code 1000
			all := c.first + strings.Repeat(c.then, c.times) + clientFrame(0x88, "\x03\xe8")
			// the server may close the connection during the write
			go func() { _, _ = conn.Write([]byte(all)) }()
			require.Equal(t, c.code, rawClose(t, conn))
		})
	}
	testproc.Until(t, within, func() error {
		if n := counted(t, registry, "waitroom_hub_flood_closes_total"); n < 7 {
			return fmt.Errorf("%v closed", n)
		}
		return nil
	})
}

// The close code names what was wrong with the frame, and no other socket is closed.
func TestBrokenFramesCloseTheirOwnSocketOnly(t *testing.T) {
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	witness := r.dial("")
	witness.untilStatus(room.Idle)
	for name, c := range map[string]struct {
		sent string
		code int
	}{
		"reserved bit":             {clientFrame(0xc1, "x"), 1002},
		"unknown opcode":           {clientFrame(0x83, "x"), 1002},
		"unknown control":          {clientFrame(0x8b, "x"), 1002},
		"ping in pieces":           {clientFrame(0x09, "x"), 1002},
		"ping over 125 bytes":      {clientFrame(0x89, strings.Repeat("x", 126)), 1002},
		"continues nothing":        {clientFrame(0x80, "x"), 1002},
		"message within a message": {clientFrame(0x01, "x") + clientFrame(0x81, "y"), 1002},
		"close without a code":     {clientFrame(0x88, ""), 1005},
		"close with half a code":   {clientFrame(0x88, "\x03"), 1002},
		"close with a wrong code":  {clientFrame(0x88, "\x00\x01"), 1002},
		"not masked":               {"\x81\x01x", 0},
	} {
		t.Run(name, func(t *testing.T) {
			conn := rawDial(t, r, 0, "")
			_, err := conn.Write([]byte(c.sent))
			require.NoError(t, err)
			require.Equal(t, c.code, rawClose(t, conn))
		})
	}
	_, err := r.Engine.Pause(t.Context(), lobby, "", true, room.Action{})
	require.NoError(t, err)
	witness.until("the pause", func(st state) bool { return st.Paused })
}
