package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio returns the transport over a process's standard input and output: one message of JSON-RPC a line.
// A line that is no message is answered with an error; the SDK would end the connection, and with it the
// seller's place in line.
func Stdio(in io.Reader, out io.Writer) mcp.Transport {
	r, w := io.Pipe()
	shared := &lockedWriter{out: out}
	go func() { _ = w.CloseWithError(forward(in, w, shared)) }()
	return &mcp.IOTransport{Reader: r, Writer: shared}
}

// JSON-RPC's errors for a line that is no message. Batches are none since the protocol's version 2025-06-18.
const (
	parseError = `{"jsonrpc":"2.0","id":null,` +
		`"error":{"code":-32700,"message":"the line is no JSON"}}` + "\n"
	invalidRequest = `{"jsonrpc":"2.0","id":null,` +
		`"error":{"code":-32600,"message":"the line is no single message of JSON-RPC 2.0"}}` + "\n"
)

// refusal returns the error for a line that is no message; "" for a message.
func refusal(line []byte) string {
	if _, err := jsonrpc.DecodeMessage(line); err == nil {
		return ""
	}
	if json.Valid(line) {
		return invalidRequest
	}
	return parseError
}

// forward copies the lines that are messages, and answers the others.
func forward(in io.Reader, to, answers io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mcp.DefaultMaxLineLength)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		receiver, text := answers, refusal(line)
		if text == "" {
			receiver, text = to, string(line)+"\n"
		}
		if _, err := io.WriteString(receiver, text); err != nil {
			return err
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
