package main

import (
	"bytes"
	"context"
	"net"
	"strconv"
	"sync/atomic"
)

// commands counts the requests that clients send to Redis, as they are written. It dials the connections of
// all libraries. Commands within a script are not counted.
type commands struct{ sent atomic.Int64 }

func (c *commands) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: conn, commands: c}, nil
}

type countedConn struct {
	net.Conn
	commands *commands
	left     int    // values of the current request still to come
	skip     int    // bytes of the current value still to come
	header   []byte // an unfinished "*3" or "$5"
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.read(b)
	return c.Conn.Write(b)
}

// read parses requests, which are arrays of bulk strings.
func (c *countedConn) read(b []byte) {
	for len(b) > 0 {
		if c.skip > 0 {
			n := min(c.skip, len(b))
			c.skip -= n
			b = b[n:]
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			c.header = append(c.header, b...)
			return
		}
		c.header = append(c.header, b[:end]...)
		b = b[end+1:]
		n, _ := strconv.Atoi(string(bytes.TrimSpace(c.header[1:])))
		c.header = c.header[:0]
		if c.left == 0 {
			c.left = n
			c.commands.sent.Add(1)
			continue
		}
		c.left--
		c.skip = n + 2
	}
}
