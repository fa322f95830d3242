package socket

import "context"

// Writer writes to sockets, one at a time, with memory of its own.
type Writer struct {
	nonblocking *nonblockingWrite
	buf         []byte
}

func newWriter() *Writer { return &Writer{newNonblockingWrite(), make([]byte, headroom, 1024)} }

// Write serves the sockets that have frames due, until Close. A few writers are enough for all sockets.
func (p *Pool) Write(context.Context) {
	w := newWriter()
	var batch [claimed]*Conn
	for {
		n := p.queue.pop(batch[:])
		if n == 0 {
			return
		}
		for i, c := range batch[:n] {
			batch[i] = nil
			w.serve(c)
		}
	}
}

// serve writes the due frames to a socket, unless another writer does.
func (w *Writer) serve(c *Conn) {
	due := c.claim()
	if due == 0 {
		return
	}
	if own := due &^ (duePing | dueProbe); own != 0 {
		c.owner.Serve(w, own)
	}
	if due&(duePing|dueProbe) != 0 {
		c.ping(w, due)
	}
	c.release()
}

// Blank returns the buffer to which a text frame's payload is appended before Send. There is one at a time.
func (w *Writer) Blank() []byte { return w.buf[:headroom] }

// Send writes the text frame whose payload was appended to Blank; it returns false if the frame was not sent.
// If an earlier frame is not finished, the socket is marked with due after that.
func (c *Conn) Send(w *Writer, b []byte, due uint32) bool {
	w.buf = b
	return c.send(w.nonblocking, Text(b), due) == took
}

// SendFrame writes a whole frame that does not change any more. Other sockets can get the same frame: bytes
// that the kernel does not accept at once are not copied.
func (c *Conn) SendFrame(w *Writer, frame []byte, due uint32) bool {
	return c.sendShared(w.nonblocking, frame, due) == took
}

// SendFrames writes several frames in one write.
func (c *Conn) SendFrames(w *Writer, frames [][]byte, due uint32) bool {
	if len(frames) == 1 {
		return c.SendFrame(w, frames[0], due)
	}
	b := w.buf[:0]
	for _, f := range frames {
		b = append(b, f...)
	}
	w.buf = b
	return c.send(w.nonblocking, b, due) == took
}

// probe is a WebSocket ping, which the browser answers whatever its page does.
var probe = []byte{opPing, 0}

// ping sends the browser a WebSocket ping and, in the wheel's turn, the page a ping message with it.
func (c *Conn) ping(w *Writer, due uint32) {
	p := c.pool
	if due&duePing == 0 {
		if c.sendShared(w.nonblocking, probe, dueProbe) == took {
			p.cfg.Probes.Inc()
		}
		return
	}
	b := p.cfg.Ping(w.Blank())
	w.buf = b
	c.asked.Store(p.now()) // before the ping is written: an answer is never older
	if c.send(w.nonblocking, append(Text(b), probe...), duePing) == took {
		p.cfg.Pings.Inc()
	}
}
