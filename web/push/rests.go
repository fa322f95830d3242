package push

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// restsMost bounds how many push services are remembered: browsers have a handful.
const restsMost = 64

// rests are the push services that said when to come again (RFC 8030, 8.4).
type rests struct {
	now   func() time.Time
	mu    sync.Mutex
	until map[string]time.Time // by host
}

func (r *rests) over(host string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.now().Before(r.until[host])
}

// hear remembers Retry-After of who takes nothing now.
func (r *rests) hear(host string, res *http.Response) {
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.until, host)
	if err != nil || seconds <= 0 || (res.StatusCode != http.StatusTooManyRequests && res.StatusCode < 500) {
		return
	}
	if r.until == nil || len(r.until) >= restsMost {
		r.until = make(map[string]time.Time)
	}
	r.until[host] = r.now().Add(time.Duration(min(seconds, 600)) * time.Second)
}
