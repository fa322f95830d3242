package push

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of the pushes in flight. Endpoints come from sellers' browsers, so one seller could name any number
// of hosts that never answer.
const (
	flyingMaker    = 16 // to one host of a browser's maker
	flyingHost     = 2  // to one other host
	flyingOthers   = 16 // to all other hosts together
	flyingStranger = 8  // to those of them that have not answered lately
	answersLast    = time.Hour
	shortestRest   = 5 * time.Second // after a time-out; doubled by each one that follows
	longestRest    = 5 * time.Minute
	hostsMost      = 1024 // remembered at a time
)

// makers are the hosts, or ends of them, of the push services of Chrome, Firefox, Safari and Edge.
var makers = []string{"fcm.googleapis.com", ".push.services.mozilla.com", ".push.apple.com",
	".notify.windows.com"}

// maker reports whether a host is a push service of a browser's maker.
func maker(host string) bool {
	for _, end := range makers {
		if host == end || strings.HasPrefix(end, ".") && strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// hostOf returns the host of an endpoint, however it is written.
func hostOf(endpoint *url.URL) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(endpoint.Host), ":443"), ".")
}

// hosts bounds the pushes in flight to each host, so that hosts that do not answer delay no others.
type hosts struct {
	now               func() time.Time
	mu                sync.Mutex
	known             map[string]*host
	others, strangers int // pushes in flight
}

// host is a push service.
type host struct {
	flying   int
	answered time.Time // when it answered last
	rests    time.Time // until then nothing is sent to it
	rest     time.Duration
}

// enter reserves a push to a host, or refuses it. The caller passes the push's outcome to leave.
func (h *hosts) enter(name string) (leave func(error), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	at, most, other, stranger := h.find(name, now), flyingMaker, 0, 0
	if !maker(name) {
		most, other = flyingHost, 1
		if now.Sub(at.answered) >= answersLast {
			stranger = 1
		}
	}
	if at.flying >= most || now.Before(at.rests) || h.others+other > flyingOthers ||
		h.strangers+stranger > flyingStranger {
		return nil, false
	}
	h.known[name] = at
	at.flying, h.others, h.strangers = at.flying+1, h.others+other, h.strangers+stranger
	return func(err error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		at.flying, h.others, h.strangers = at.flying-1, h.others-other, h.strangers-stranger
		at.record(err, h.now())
	}, true
}

// record takes in the outcome of a push. A host that did not answer in time rests; of several pushes that it
// left unanswered at once, one counts.
func (at *host) record(err error, now time.Time) {
	if err == nil {
		at.answered, at.rest, at.rests = now, 0, time.Time{}
		return
	}
	at.answered = time.Time{}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() && !now.Before(at.rests) {
		at.rest = min(max(2*at.rest, shortestRest), longestRest)
		at.rests = now.Add(at.rest)
	}
}

// find returns what is known of a host. At hostsMost it forgets hosts without a push in flight: those that
// neither rest nor have answered lately; if there are none, those that rest; if there are none, all.
func (h *hosts) find(name string, now time.Time) *host {
	if at := h.known[name]; at != nil {
		return at
	}
	if h.known == nil {
		h.known = make(map[string]*host)
	}
	for _, forget := range []func(*host) bool{
		func(at *host) bool { return !now.Before(at.rests) && now.Sub(at.answered) >= answersLast },
		func(at *host) bool { return now.Before(at.rests) },
		func(*host) bool { return true },
	} {
		if len(h.known) < hostsMost {
			break
		}
		for other, at := range h.known {
			if at.flying == 0 && forget(at) {
				delete(h.known, other)
			}
		}
	}
	return &host{}
}

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

// record stores the Retry-After of a 429 or a 5xx, in seconds, as at most ten minutes. A limit for one
// browser (429) does not pause the service's others: one seller could silence them.
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
