package socket

import (
	"sync"
	"time"
)

// nonblockingWrite is a write that does not block, without an allocation for each.
type nonblockingWrite struct {
	p    []byte
	n    int
	err  error
	call func(fd uintptr) bool
}

var nonblockingWrites = sync.Pool{New: func() any { return newNonblockingWrite() }}

func newNonblockingWrite() *nonblockingWrite {
	p := new(nonblockingWrite)
	p.call = p.once
	return p
}

func (p *nonblockingWrite) write(w *wire, b []byte) (int, error) {
	if w.raw == nil {
		return p.wait(w, b)
	}
	p.p, p.n, p.err = b, 0, nil
	err := w.raw.Write(p.call)
	p.p = nil
	if err == nil {
		err = p.err
	}
	return p.n, err
}

// wait writes to connections that can only block.
func (p *nonblockingWrite) wait(w *wire, b []byte) (int, error) {
	_ = w.SetWriteDeadline(time.Now().Add(w.c.pool.cfg.WriteTimeout))
	return w.Conn.Write(b)
}
