package socket

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// recorded is a connection that delivers a given text and records what is written to it.
type recorded struct {
	net.Conn
	in  *bytes.Reader
	out bytes.Buffer
}

func (r *recorded) Read(p []byte) (int, error)       { return r.in.Read(p) }
func (r *recorded) Write(p []byte) (int, error)      { return r.out.Write(p) }
func (r *recorded) Close() error                     { return nil }
func (r *recorded) SetReadDeadline(time.Time) error  { return nil }
func (r *recorded) SetWriteDeadline(time.Time) error { return nil }
func (r *recorded) SetDeadline(time.Time) error      { return nil }

// upgraded is a response whose connection can be hijacked.
type upgraded struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (u upgraded) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return u.conn, bufio.NewReadWriter(bufio.NewReader(u.conn), bufio.NewWriter(u.conn)), nil
}

// said is one frame that the socket wrote.
type said struct {
	op      byte
	payload []byte
}

// answers makes a socket of a pool read a client's bytes to their end, and returns the frames that it wrote.
func answers(t *testing.T, p *Pool, sent []byte) (frames []said) {
	r := httptest.NewRequest("GET", "/", nil)
	for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket",
		"Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key":     "AAAAAAAAAAAAAAAAAAAAAA=="} {
		r.Header.Set(name, value)
	}
	conn := &recorded{in: bytes.NewReader(sent)}
	w := upgraded{httptest.NewRecorder(), conn}
	require.NoError(t, Check(w, r, nil))
	c := new(Conn)
	require.True(t, p.Accept(w, r, c, nil))
	c.Open()
	c.Run()
	c.Leave()
	_, out, _ := bytes.Cut(conn.out.Bytes(), []byte("\r\n\r\n")) // of the upgrade's answer
	for len(out) > 0 {
		require.GreaterOrEqual(t, len(out), 2)
		n := int(out[1])
		require.LessOrEqual(t, 2+n, len(out), "only whole frames, and no long ones")
		frames = append(frames, said{out[0], out[2 : 2+n]})
		out = out[2+n:]
	}
	return frames
}

// For any bytes of a client, the socket writes only pongs and at most one close frame, as the last, with a
// code for what was wrong. It leaves nothing running.
func FuzzClientFrames(f *testing.F) {
	masking := func(first byte, payload string) string {
		return string([]byte{first, 0x80 | byte(len(payload)), 0, 0, 0, 0}) + payload
	}
	for _, seed := range []string{
		"", masking(0x81, `{"type":"pong"}`), masking(0x81, `{"type":"join"}`), masking(0x82,
			"x"), masking(0x81, "\xff"), masking(0x89, "abc"),
		masking(0x8a, ""), masking(0x88, "\x03\xe8"), masking(0x88, "\x03"), masking(0x88, ""), masking(0x01,
			`{"type":`) + masking(0x80, `"pong"}`),
		masking(0x01, "") + masking(0, "") + masking(0, ""), masking(0xc1, "x"), masking(0x8b,
			""), "\x81\x01x", masking(0x09, ""), masking(0x80, "x"),
		"\x81\xfe\x10\x01\x00\x00\x00\x00", "\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00",
		"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00",
		"\x81\xfe\x10\x01\x00\x00\x00\x00" + string(make([]byte,
			4097)), string(bytes.Repeat([]byte(masking(0x89, "")), 50)),
		string(bytes.Repeat([]byte(masking(0, "")),
			3000)), "\x89\xfe\x00\x7e\x00\x00\x00\x00" + string(make([]byte, 126)), "\x81",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		p := New(Config{WriteTimeout: time.Second, CloseGrace: time.Second, Start: time.Now(),
			Metrics: Metrics{Floods: prometheus.NewCounter(prometheus.CounterOpts{})}})
		frames := answers(t, p, sent)
		for i, frame := range frames {
			switch frame.op {
			case opPong:
				require.Less(t, i, framesASecond)
			case opClose:
				require.Equal(t, len(frames)-1, i, "nothing follows a close")
				if len(frame.payload) > 0 {
					code := int(binary.BigEndian.Uint16(frame.payload))
					require.True(t, code >= 1000 && code <= 1014 || code >= 3000 && code <= 4999, "code %d",
						code)
				}
			default:
				require.Fail(t, "frame of another kind", "%x", frame.op)
			}
		}
		require.Empty(t, p.wheel.slots[0].conns)
	})
}
