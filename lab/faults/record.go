package faults

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// The kinds of records.
const (
	KindCall    = "call"    // a request and its answer, or that there was none
	KindOpen    = "open"    // a socket was opened
	KindFrame   = "frame"   // it got a frame
	KindClose   = "close"   // it is gone
	KindMessage = "message" // a carrier was asked for a code
	KindWebhook = "webhook" // the integration got a webhook, and answered
	KindFault   = "fault"   // a fault, from its beginning to its end
	KindClock   = "clock"   // from now on Redis's clock is off by Offset
	KindNote    = "note"    // something that was measured
)

// Moment is a time by two clocks: the wall clock and the monotonic one.
type Moment struct {
	Mono int64 `json:"mono"` // µs since the run began, by the monotonic clock
	Wall int64 `json:"wall"` // unix ms; on one machine that is Redis's time
}

// Record is one line of a history. Times of the server are in unix ms of Redis's clock.
type Record struct {
	N       int64  `json:"n"` // place in the history
	Kind    string `json:"kind"`
	Began   Moment `json:"began"`
	Ended   Moment `json:"ended"`
	Op      string `json:"op,omitempty"` // of a call: join leave status expect claim sms
	Room    string `json:"room,omitempty"`
	Session string `json:"session,omitempty"`
	Replica string `json:"replica,omitempty"`
	Socket  int64  `json:"socket,omitempty"`
	HTTP    int    `json:"http,omitempty"`
	Error   string `json:"error,omitempty"` // no answer: it may have happened
	Problem string `json:"problem,omitempty"`

	Type       string `json:"type,omitempty"` // of a frame
	Epoch      int64  `json:"epoch,omitempty"`
	Version    int64  `json:"version,omitempty"`
	ServerTime int64  `json:"server_time,omitempty"`
	Status     string `json:"status,omitempty"`
	Outcome    string `json:"outcome,omitempty"`
	Ticket     int64  `json:"ticket,omitempty"`
	Position   int64  `json:"position,omitempty"`
	Length     int64  `json:"length,omitempty"`
	Fence      int64  `json:"fence,omitempty"`
	GrantedAt  int64  `json:"granted_at,omitempty"`
	ExpiresAt  int64  `json:"expires_at,omitempty"`
	ClaimBy    int64  `json:"claim_by,omitempty"`
	Unclaimed  bool   `json:"unclaimed,omitempty"`

	Message string `json:"message,omitempty"` // its id
	Webhook string `json:"webhook,omitempty"` // its id
	Code    string `json:"code,omitempty"`
	Result  string `json:"result,omitempty"`

	Fault    string   `json:"fault,omitempty"`
	Replicas []string `json:"replicas,omitempty"` // that a fault took from their sellers
	Offset   int64    `json:"offset,omitempty"`   // ms by which Redis's clock is ahead of the machine's
	Detail   string   `json:"detail,omitempty"`
}

// History is what happened, in the order in which it became known. It is safe for concurrent use.
type History struct {
	began time.Time

	mu      sync.Mutex
	records []Record
	file    *os.File
	out     *bufio.Writer
	err     error
	latest  map[string]lineage
}

// lineage is the latest version of a room that any client observed.
type lineage struct{ epoch, version int64 }

func (l lineage) beyond(other lineage) bool {
	return l.epoch > other.epoch || l.epoch == other.epoch && l.version > other.version
}

// NewHistory writes to a file, one record in each line.
func NewHistory(path string) (*History, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &History{began: time.Now(), file: file, out: bufio.NewWriter(file), latest: map[string]lineage{}}, nil
}

// Now returns the current Moment.
func (h *History) Now() Moment {
	now := time.Now()
	return Moment{Mono: now.Sub(h.began).Microseconds(), Wall: now.UnixMilli()}
}

// Add adds a record. Without an end it ends now; without a beginning it has no duration.
func (h *History) Add(r Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Ended.Mono == 0 {
		r.Ended = h.Now()
	}
	if r.Began.Mono == 0 {
		r.Began = r.Ended
	}
	r.N = int64(len(h.records)) + 1
	h.records = append(h.records, r)
	if l := (lineage{r.Epoch, r.Version}); r.Room != "" && l.beyond(h.latest[r.Room]) {
		h.latest[r.Room] = l
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = h.out.Write(append(line, '\n'))
	}
	if h.err == nil {
		h.err = err
	}
}

// Note adds a measured value.
func (h *History) Note(format string, args ...any) {
	h.Add(Record{Kind: KindNote, Detail: fmt.Sprintf(format, args...)})
}

// Latest returns the latest version of each room that any client observed.
func (h *History) Latest() map[string]lineage {
	h.mu.Lock()
	defer h.mu.Unlock()
	latest := make(map[string]lineage, len(h.latest))
	for room, l := range h.latest {
		latest[room] = l
	}
	return latest
}

// Since returns the records from the n-th on.
func (h *History) Since(n int) []Record {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Record(nil), h.records[min(n, len(h.records)):]...)
}

// Len returns the number of records.
func (h *History) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.records)
}

// Close flushes the file, and returns all records and the file's first error.
func (h *History) Close() ([]Record, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, err := range []error{h.out.Flush(), h.file.Close()} {
		if h.err == nil {
			h.err = err
		}
	}
	return h.records, h.err
}

// ReadHistory reads the file of a run.
func ReadHistory(path string) (records []Record, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	in := json.NewDecoder(bufio.NewReader(file))
	for in.More() {
		var r Record
		if err := in.Decode(&r); err != nil {
			return nil, fmt.Errorf("%s, record %d: %w", path, len(records)+1, err)
		}
		records = append(records, r)
	}
	return records, nil
}
