package socket

import "sync"

// The frames that a socket is due are a set of bits. A socket with something due stands in the queue. An
// entry may be stale, and a socket may have several, so a writer claims the socket before it serves it.
const (
	duePing   uint32 = 1 << iota
	dueProbe         // of the browser alone, between pings
	dueUrgent        // stands in the urgent lane
	busy             // a writer has it: a mark leaves the rest to that writer

	Own // the first of the owner's own bits, which are this one and all above it

	dueWork = ^(dueUrgent | busy)
)

// claimed is how many sockets a writer takes at a time: few, so that the urgent lane does not wait long.
const claimed = 16

// queue has the sockets that are due frames, in two lanes.
type queue struct {
	mu     sync.Mutex
	filled *sync.Cond
	lanes  [2]lane // urgent, the rest
	ended  bool
}

// lane is a queue that reuses its memory.
type lane struct {
	conns []*Conn
	head  int
}

func (l *lane) push(c *Conn) { l.conns = append(l.conns, c) }

func (l *lane) pop(to []*Conn) int {
	n := copy(to, l.conns[l.head:])
	clear(l.conns[l.head : l.head+n])
	if l.head += n; l.head == len(l.conns) {
		l.conns, l.head = l.conns[:0], 0
	}
	return n
}

func newQueue() *queue {
	q := new(queue)
	q.filled = sync.NewCond(&q.mu)
	return q
}

// Mark adds to the frames that the socket is due, and queues the socket unless it is queued already. While a
// writer has it, release queues it again. An urgent mark also queues a socket of the other lane as urgent.
func (c *Conn) Mark(what uint32, urgent bool) {
	if !urgent {
		if old := c.due.Or(what); old&(dueWork|busy) == 0 {
			c.pool.queue.push(1, c)
		}
		return
	}
	if old := c.due.Or(what | dueUrgent); old&(dueUrgent|busy) == 0 {
		c.pool.queue.push(0, c)
	}
}

func (q *queue) push(lane int, c *Conn) {
	q.mu.Lock()
	q.lanes[lane].push(c)
	q.mu.Unlock()
	q.filled.Signal()
}

// MarkAll marks many sockets for one kind of frame, at the end of the queue.
func MarkAll[C interface{ Socket() *Conn }](p *Pool, conns []C, what uint32) {
	const at = 256 // under one lock: so many that it costs little, so few that writers do not wait
	q := p.queue
	for len(conns) > 0 {
		part := conns[:min(at, len(conns))]
		conns = conns[len(part):]
		q.mu.Lock()
		for _, one := range part {
			c := one.Socket()
			if old := c.due.Or(what); old&(dueWork|busy) == 0 {
				q.lanes[1].push(c)
			}
		}
		q.mu.Unlock()
		q.filled.Broadcast()
	}
}

// Socket returns the socket itself, for types that embed one.
func (c *Conn) Socket() *Conn { return c }

// pop waits for sockets, the urgent first; it returns 0 when the queue is closed.
func (q *queue) pop(to []*Conn) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.ended {
		for i := range q.lanes {
			if n := q.lanes[i].pop(to); n > 0 {
				return n
			}
		}
		q.filled.Wait()
	}
	return 0
}

func (q *queue) close() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.filled.Broadcast()
}

// claim takes the due bits and gives this writer the socket. It returns 0 if there are none or another writer
// has the socket.
func (c *Conn) claim() uint32 {
	for {
		due := c.due.Load()
		if due&busy != 0 || due&dueWork == 0 {
			return 0
		}
		if c.due.CompareAndSwap(due, busy) {
			return due & dueWork
		}
	}
}

// release gives the socket back. If bits were set meanwhile, the socket is queued again.
func (c *Conn) release() {
	due := c.due.And(^busy)
	switch {
	case due&dueWork == 0:
	case due&dueUrgent != 0:
		c.pool.queue.push(0, c)
	default:
		c.pool.queue.push(1, c)
	}
}
