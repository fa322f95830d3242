package web

import (
	"log/slog"
	"sync"
	"time"
)

// away writes down requests that failed since the store is away: the first at once, then those of each second in one line.
type away struct {
	log *slog.Logger

	mu     sync.Mutex
	failed int // since the last line
	route  string
	err    error // of the last
	timer  *time.Timer
}

// tellEvery is how often a store that stays away is spoken of.
const tellEvery = time.Second

func (a *away) request(route string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed++
	a.route, a.err = route, err
	if a.timer == nil {
		a.say()
		a.timer = time.AfterFunc(tellEvery, a.again)
	}
}

// again tells of those that failed meanwhile; where there were none, the store is back.
func (a *away) again() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == 0 {
		a.timer = nil
		return
	}
	a.say()
	a.timer.Reset(tellEvery)
}

func (a *away) say() {
	a.log.Warn("requests failed: the store is away", "count", a.failed, "route", a.route, "error", a.err)
	a.failed = 0
}
