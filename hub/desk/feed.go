package desk

import "sync"

// How much of the frames is kept for sockets that are behind. A socket that is behind by more gets the
// opening frames again.
const (
	feedFrames = 1024
	feedBytes  = 1 << 20
)

// feed has the latest frames for all watchers of one source, in order, each once in memory, and the number of
// the first. A socket only remembers how far it has read.
type feed struct {
	mu     sync.Mutex
	first  int64 // number of frames[0]
	frames [][]byte
	size   int
	conns  []*Conn
}

// add adds a socket, which gets nothing until it is marked.
func (f *feed) add(c *Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.at = len(f.conns)
	f.conns = append(f.conns, c)
}

// remove removes a socket and returns the number of sockets that are left.
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

// send adds a frame and marks all sockets. The caller must not change the frame afterwards.
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

// reset drops all frames: every socket is then behind and gets everything again.
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

// end returns the number of the next frame.
func (f *feed) end() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first + int64(len(f.frames))
}

// keeps reports whether the feed still has all frames from a number on.
func (f *feed) keeps(number int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return number >= f.first
}

// after appends the frames from a number on to `to`: as many as fit into its capacity and about `most` bytes,
// but at least one. It returns false if the feed does not have the first one any more.
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
