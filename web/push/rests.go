package push

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// restsMost bounds the remembered entries.
const restsMost = 1024

// rests records the Retry-After of push services (RFC 8030, 8.4), and of single browsers.
type rests struct {
	now   func() time.Time
	mu    sync.Mutex
	until map[string]time.Time // by host, or by endpoint
}

func (r *rests) over(u *url.URL) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	return !now.Before(r.until[u.Host]) && !now.Before(r.until[u.String()])
}

// record stores an answer's Retry-After. A limit for one browser does not pause the service's others: one
// seller could silence them.
func (r *rests) hear(u *url.URL, res *http.Response) {
	of := u.Host
	if res.StatusCode == http.StatusTooManyRequests {
		of = u.String()
	}
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.until, of)
	if err != nil || seconds <= 0 || (res.StatusCode != http.StatusTooManyRequests && res.StatusCode < 500) {
		return
	}
	if r.until == nil || len(r.until) >= restsMost {
		r.until = make(map[string]time.Time)
	}
	r.until[of] = r.now().Add(time.Duration(min(seconds, 600)) * time.Second)
}
