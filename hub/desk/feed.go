package desk

import "sync"

// How much of the frames is kept for sockets that are behind. A socket that is behind by more is sent
// everything anew.
const (
	feedFrames = 1024
	feedBytes  = 1 << 20
)

// feed is what the watchers of one thing are sent, in order: the latest frames, each once in memory however
// many watch, and the number of the first. A socket only remembers how far it has read.
type feed struct {
	mu     sync.Mutex
	first  int64 // number of frames[0]
	frames [][]byte
	size   int
	conns  []*Conn
}

// add lets a socket in; it is sent nothing until it is marked.
func (f *feed) add(c *Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.at = len(f.conns)
	f.conns = append(f.conns, c)
}

// remove takes a socket out and returns how many are left.
func (f *feed) remove(c *Conn) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := len(f.conns) - 1
	f.conns[c.at] = f.conns[last]
	f.conns[c.at].at = c.at
	f.conns[last] = nil
	f.conns = f.conns[:last]
	return last
}

func (f *feed) watchers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}

// send adds a frame and marks all sockets. The frame must not be changed any more.
func (f *feed) send(frame []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frames = append(f.frames, frame)
	f.size += len(frame)
	for len(f.frames) > feedFrames || f.size > feedBytes && len(f.frames) > 1 {
		f.size -= len(f.frames[0])
		f.frames[0] = nil
		f.frames = f.frames[1:]
		f.first++
	}
	f.mark()
}

// reset forgets all frames: every socket is behind and is sent everything anew.
func (f *feed) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first += int64(len(f.frames)) + 1
	f.frames, f.size = nil, 0
	f.mark()
}

func (f *feed) markAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mark()
}

func (f *feed) mark() {
	for _, c := range f.conns {
		c.Mark(dueFeed, false)
	}
}

// end is the number of the next frame.
func (f *feed) end() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first + int64(len(f.frames))
}

// keeps reports whether all frames from a number on are here.
func (f *feed) keeps(number int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return number >= f.first
}

// after appends to `to` the frames from a number on, as many as there is room for and about `most` bytes, one
// at the least; false when that one is not kept any more.
func (f *feed) after(number int64, most int, to [][]byte) ([][]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if number < f.first {
		return to, false
	}
	for _, frame := range f.frames[number-f.first:] {
		if most -= len(frame); len(to) == cap(to) || most < 0 && len(to) > 0 {
			break
		}
		to = append(to, frame)
	}
	return to, true
}
