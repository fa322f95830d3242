// Package dialer makes go-redis dial at every use.
package dialer

import (
	"context"
	"net"
	"time"
)

// Dial connects to a server, as net.Dialer's DialContext does.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Eager hides dial failures from go-redis's pool. After as many failures as it has connections, the pool
// returns errors by itself and dials once a second. One replica would then resume up to a second after
// another, as long as the recovery window of a room that may have lost data. A failed dial returns a
// connection whose first use fails with the dial's error.
func Eager(dial Dial) Dial {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return broken{failure{err}}, nil
		}
		return c, nil
	}
}

// broken is a connection whose dial failed.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error)       { return 0, b.err }
func (b broken) Write([]byte) (int, error)      { return 0, b.err }
func (broken) Close() error                     { return nil }
func (broken) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (broken) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (broken) SetDeadline(time.Time) error      { return nil }
func (broken) SetReadDeadline(time.Time) error  { return nil }
func (broken) SetWriteDeadline(time.Time) error { return nil }

// failure wraps the error once, as go-redis unwraps it once.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }
