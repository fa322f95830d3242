package socket

import (
	"sync"
	"time"
)

// pen makes a write that does not wait, without an allocation for each.
type pen struct {
	p    []byte
	n    int
	err  error
	call func(fd uintptr) bool
}

var pens = sync.Pool{New: func() any { return newPen() }}

func newPen() *pen {
	p := new(pen)
	p.call = p.once
	return p
}

func (p *pen) write(w *wire, b []byte) (int, error) {
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

// wait is for connections that only know how to wait.
func (p *pen) wait(w *wire, b []byte) (int, error) {
	_ = w.SetWriteDeadline(time.Now().Add(w.c.pool.cfg.WriteTimeout))
	return w.Conn.Write(b)
}
