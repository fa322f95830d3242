package quota

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Rate limits how often one address may join. The zero value does not limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// burstSeconds sets the burst: an address may make the joins of ten seconds at once.
const burstSeconds = 10

// slowest is the lowest accepted rate, one a day. A lower one is surely a mistake, and the very lowest would
// be rounded to 0, which means no limit.
const slowest = 1.0 / (24 * 60 * 60)

// ParseRate parses a rate such as "100/s" or "30/m"; "0" means no limit. The joins of ten seconds may come at
// once.
func ParseRate(text string) (Rate, error) {
	if text == "0" {
		return Rate{}, nil
	}
	number, unit, ok := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(n > 0 && n <= 1e6) {
		return Rate{}, fmt.Errorf("rate %q is not like 100/s or 30/m", text)
	}
	switch unit {
	case "s":
	case "m":
		n /= 60
	default:
		return Rate{}, fmt.Errorf("rate %q is neither per second (/s) nor per minute (/m)", text)
	}
	if n < slowest {
		return Rate{}, fmt.Errorf("rate %q is less than one a day", text)
	}
	return Rate{PerSecond: n, Burst: max(int(n*burstSeconds), 1)}, nil
}

// New places of an address at once, and again in the course of a day: mostADay, or those of fullSeconds at
// its full rate if there are more. Each leaves about a kilobyte in the ledger, and its room 3 KB in Redis for
// 26 hours.
const (
	mostADay    = 50_000
	fullSeconds = 500
)

// perDay returns the new places of a day; they may come at once. 0 = no limit.
func (r Rate) perDay() float64 {
	if r.PerSecond == 0 {
		return 0
	}
	return max(mostADay, math.Floor(fullSeconds*r.PerSecond))
}

// dayPrice returns the price of a new place in µs; 0 = no limit.
func (r Rate) dayPrice() float64 {
	if r.PerSecond == 0 {
		return 0
	}
	return float64(24*time.Hour/time.Microsecond) / r.perDay()
}

// interval returns the time between joins once the burst is used up, in µs; 0 = not limited.
func (r Rate) interval() float64 {
	if r.PerSecond == 0 {
		return 0
	}
	return 1e6 / r.PerSecond
}
