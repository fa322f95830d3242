package hub

import "sync"

// What a socket may have to be told. A conn with something due stands in the queue, at most once in
// each lane; the lane's entry may be stale, so the writer claims the conn before it serves it.
const (
	dueState uint32 = 1 << iota
	dueMessages
	duePing
	dueProbe // of those in front, between their pings
	dueNotices
	dueFeed     // of support's sockets
	dueBeat     // likewise
	dueReplicas // likewise
	dueUrgent   // stands in the urgent lane
	busy        // a writer has it: who marks it leaves the rest to that writer

	dueWork = dueState | dueMessages | duePing | dueProbe | dueNotices | dueFeed | dueBeat | dueReplicas
)

// claimed is how many sockets a writer takes at a time: few enough that the urgent lane never waits long.
const claimed = 16

// queue is the line of sockets that have something to be told, in two lanes.
type queue struct {
	mu     sync.Mutex
	filled *sync.Cond
	lanes  [2]lane // urgent, the rest
	ended  bool
}

// lane is a queue that keeps its memory.
type lane struct {
	conns []*conn
	head  int
}

func (l *lane) push(c *conn) { l.conns = append(l.conns, c) }

func (l *lane) pop(to []*conn) int {
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

// mark says that something is due to the socket.
func (c *conn) mark(what uint32, urgent bool) {
	if !urgent {
		if old := c.due.Or(what); old&(dueWork|busy) == 0 {
			c.h.queue.push(1, c)
		}
		return
	}
	if old := c.due.Or(what | dueUrgent); old&(dueUrgent|busy) == 0 {
		c.h.queue.push(0, c)
	}
}

func (q *queue) push(lane int, c *conn) {
	q.mu.Lock()
	q.lanes[lane].push(c)
	q.mu.Unlock()
	q.filled.Signal()
}

// pushAll marks many for their state, behind all others.
func (q *queue) pushAll(conns []*conn) {
	const at = 256 // under one lock: so many that it costs little, so few that writers do not wait
	for len(conns) > 0 {
		part := conns[:min(at, len(conns))]
		conns = conns[len(part):]
		q.mu.Lock()
		for _, c := range part {
			if old := c.due.Or(dueState); old&(dueWork|busy) == 0 {
				q.lanes[1].push(c)
			}
		}
		q.mu.Unlock()
		q.filled.Broadcast()
	}
}

// pop waits for sockets, the urgent first; 0 when the queue is closed.
func (q *queue) pop(to []*conn) int {
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

// claim takes what is due and makes the conn this writer's; 0 when there is nothing, or another
// writer has it.
func (c *conn) claim() uint32 {
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

// release gives the conn back; what became due meanwhile puts it in the queue again.
func (c *conn) release() {
	due := c.due.And(^busy)
	switch {
	case due&dueWork == 0:
	case due&dueUrgent != 0:
		c.h.queue.push(0, c)
	default:
		c.h.queue.push(1, c)
	}
}
