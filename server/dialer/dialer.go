// Package dialer has the store's clients try each time.
package dialer

import (
	"context"
	"net"
	"time"
)

// Dial connects to a server, as net.Dialer's DialContext does.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Eager makes a dialer of which go-redis's pool never hears that it failed. After as many failures as it has
// connections the pool answers by itself, and looks for the server once a second; of several replicas one
// would go on up to a second later than another, which is as long as a room that may have lost data waits for
// what each was told. A connection that could not be made is one that fails when it is used, with the same
// error.
func Eager(dial Dial) Dial {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return broken{failure{err}}, nil
		}
		return c, nil
	}
}

// broken is a connection that could not be made.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error)       { return 0, b.err }
func (b broken) Write([]byte) (int, error)      { return 0, b.err }
func (broken) Close() error                     { return nil }
func (broken) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (broken) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (broken) SetDeadline(time.Time) error      { return nil }
func (broken) SetReadDeadline(time.Time) error  { return nil }
func (broken) SetWriteDeadline(time.Time) error { return nil }

// failure is one layer around the error, which go-redis takes off.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }
