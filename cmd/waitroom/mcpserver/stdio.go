package mcpserver

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio returns the transport over a process's standard input and output: one JSON object a line. A line that
// is no JSON gets JSON-RPC's parse error; the SDK would end the connection, and with it the place.
func Stdio(in io.Reader, out io.Writer) mcp.Transport {
	r, w := io.Pipe()
	shared := &lockedWriter{out: out}
	go func() { _ = w.CloseWithError(forward(in, w, shared)) }()
	return &mcp.IOTransport{Reader: r, Writer: shared}
}

const parseError = `{"jsonrpc":"2.0","id":null,` +
	`"error":{"code":-32700,"message":"the line is no JSON"}}` + "\n"

// forward copies the lines that are JSON, and answers the others.
func forward(in io.Reader, to, answers io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mcp.DefaultMaxLineLength)
	for lines.Scan() {
		line := lines.Bytes()
		switch {
		case len(line) == 0:
		case json.Valid(line):
			if _, err := to.Write(append(line, '\n')); err != nil {
				return err
			}
		default:
			if _, err := io.WriteString(answers, parseError); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// lockedWriter is a writer of whole messages. Closing it leaves the output open, which is the process's.
type lockedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

func (*lockedWriter) Close() error { return nil }
