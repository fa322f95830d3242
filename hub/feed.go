package hub

import "sync"

// How much of what was told is kept for sockets that are behind. Who is behind by more is shown everything anew.
const (
	feedFrames = 1024
	feedBytes  = 1 << 20
)

// feed is what all who watch the same thing are told, in order: the latest frames, each once in memory however many watch, and a
// number of the first of them. A socket only remembers how far it has read.
type feed struct {
	mu     sync.Mutex
	first  int64 // number of frames[0]
	frames [][]byte
	size   int
	conns  []*conn
}

// add lets a socket in; it is told nothing until it is marked.
func (f *feed) add(c *conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.desk.at = len(f.conns)
	f.conns = append(f.conns, c)
}

// remove takes a socket out and returns how many are left.
func (f *feed) remove(c *conn) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := len(f.conns) - 1
	f.conns[c.desk.at] = f.conns[last]
	f.conns[c.desk.at].desk.at = c.desk.at
	f.conns[last] = nil
	f.conns = f.conns[:last]
	return last
}

func (f *feed) watchers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}

// tell adds a frame and lets everybody know. Nobody may change the frame any more.
func (f *feed) tell(frame []byte) {
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

// reset forgets all frames: everybody is behind and is shown everything anew.
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

// after appends to `to` the frames from a number on, as many as there is room for and about `most` bytes, one at the least; false
// when that one is not kept any more.
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
