package redistest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// readValue reads one whole RESP2 or RESP3 value and returns its bytes unchanged.
func readValue(r *bufio.Reader) ([]byte, error) {
	var raw bytes.Buffer
	if err := copyValue(&raw, r); err != nil {
		return nil, err
	}
	return raw.Bytes(), nil
}

func copyValue(raw *bytes.Buffer, r *bufio.Reader) error {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	raw.Write(line)
	parts := 1
	switch line[0] {
	case '$', '!', '=':
		return copyBulk(raw, r, line)
	case '%':
		parts = 2
	case '|': // an attribute stands before the value it belongs to
		if err := copyParts(raw, r, line, 2); err != nil {
			return err
		}
		return copyValue(raw, r)
	case '*', '~', '>':
	default:
		return nil
	}
	return copyParts(raw, r, line, parts)
}

func copyBulk(raw *bytes.Buffer, r *bufio.Reader, header []byte) error {
	size, err := count(header)
	if err != nil || size < 0 {
		return err
	}
	_, err = io.CopyN(raw, r, int64(size)+2)
	return err
}

func copyParts(raw *bytes.Buffer, r *bufio.Reader, header []byte, per int) error {
	parts, err := count(header)
	if err != nil {
		return err
	}
	for range parts * per {
		if err := copyValue(raw, r); err != nil {
			return err
		}
	}
	return nil
}

// count reads the number in a header, such as "*3" and its line end; -1 is null.
func count(header []byte) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(string(header[1:])))
	if err != nil {
		return 0, fmt.Errorf("not a RESP header: %q", header)
	}
	return n, nil
}

// commandName returns the upper-case name of a request's command; "" for anything else.
func commandName(request []byte) string {
	lines := bytes.SplitN(request, []byte("\r\n"), 4)
	if len(lines) < 4 {
		return ""
	}
	return strings.ToUpper(string(lines[2]))
}

// Command matches requests by the name of the command, for DropNextReply.
func Command(names ...string) func(request []byte) bool {
	return func(request []byte) bool {
		name := commandName(request)
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
}

// answeredByPush reports whether a request has no reply of its own in RESP3.
func answeredByPush(request []byte) bool {
	return strings.HasSuffix(commandName(request), "SUBSCRIBE")
}
