package push

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// restsMost bounds how much is remembered.
const restsMost = 1024

// rests are the push services that said when to come again (RFC 8030, 8.4), and the browsers that they said so of.
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

// hear remembers Retry-After. A service that takes too much for one browser says nothing of the others: its seller could silence them.
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
