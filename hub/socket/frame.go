package socket

import "encoding/binary"

const (
	opText  = 0x81
	opClose = 0x88
	opPing  = 0x89
	opPong  = 0x8a
)

// pong is a page's answer to a ping.
const pong = `{"type":"pong"}`

const (
	masked       = 0x80 // of clients' frames
	maskedHeader = 6    // of a short frame
)

// How the answers to our pings begin.
var (
	browserPong = [2]byte{opPong, masked}
	pagePong    = [2]byte{opText, masked | byte(len(pong))}
)

// isPlainPong reports whether a whole frame that begins with pagePong is a page's answer.
func isPlainPong(frame []byte) bool {
	if len(frame) < maskedHeader+len(pong) {
		return false
	}
	mask, payload := frame[2:maskedHeader], frame[maskedHeader:]
	for i := range len(pong) {
		if payload[i]^mask[i%4] != pong[i] {
			return false
		}
	}
	return true
}

// headroom is the most bytes that a frame's header needs in front of the payload.
const headroom = 10

// Blank returns a buffer to which the payload of a text frame is appended, with room for about so many bytes.
func Blank(about int) []byte { return make([]byte, headroom, headroom+about) }

// Text writes a text frame's header in front of the payload that was appended to Blank, and returns the whole
// frame.
func Text(b []byte) []byte {
	n := len(b) - headroom
	switch {
	case n < 126:
		b[8], b[9] = opText, byte(n)
		return b[8:]
	case n <= 0xffff:
		b[6], b[7] = opText, 126
		binary.BigEndian.PutUint16(b[8:10], uint16(n))
		return b[6:]
	default:
		b[0], b[1] = opText, 127
		binary.BigEndian.PutUint64(b[2:10], uint64(n))
		return b
	}
}

// closeFrame returns a whole close frame; reason has at most 123 bytes.
func closeFrame(code int, reason string) []byte {
	b := append(make([]byte, 0, 4+len(reason)), opClose, byte(2+len(reason)))
	return append(binary.BigEndian.AppendUint16(b, uint16(code)), reason...)
}
