package reply

import (
	"log/slog"
	"sync"
	"time"
)

// away logs requests that failed because the store is away: the first at once, then one line a second.
type away struct {
	log *slog.Logger

	mu     sync.Mutex
	failed int // since the last line
	route  string
	err    error // of the last
	timer  *time.Timer
}

// logEvery is the interval between lines about an absent store.
const logEvery = time.Second

func (a *away) request(route string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed++
	a.route, a.err = route, err
	if a.timer == nil {
		a.write()
		a.timer = time.AfterFunc(logEvery, a.again)
	}
}

// again logs the requests that failed since the last line. Without any, the store is back.
func (a *away) again() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == 0 {
		a.timer = nil
		return
	}
	a.write()
	a.timer.Reset(logEvery)
}

func (a *away) write() {
	a.log.Warn("requests failed: the store is away", "count", a.failed, "route", a.route, "error", a.err)
	a.failed = 0
}
