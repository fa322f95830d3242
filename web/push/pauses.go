package push

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// pausesMost bounds the remembered entries.
const pausesMost = 1024

// pauses records the Retry-After of push services (RFC 8030, 8.4), and of single browsers.
type pauses struct {
	now   func() time.Time
	mu    sync.Mutex
	until map[string]time.Time // by host, or by endpoint
}

func (r *pauses) over(u *url.URL) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	return !now.Before(r.until[u.Host]) && !now.Before(r.until[u.String()])
}

// record stores an answer's Retry-After. A limit for one browser does not pause the service's others: one
// seller could silence them.
func (r *pauses) record(u *url.URL, res *http.Response) {
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
	if r.until == nil || len(r.until) >= pausesMost {
		r.until = make(map[string]time.Time)
	}
	r.until[of] = r.now().Add(time.Duration(min(seconds, 600)) * time.Second)
}
