package read

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/waitroom/waitroom/room/wire"
)

// Pace is how long a room's leases were held at an hour of the day. The zero value is not known.
type Pace struct {
	Hold   time.Duration // the average
	Spread time.Duration // the standard deviation
}

// A pace comes from the leases of today and of the paceDays days before. Of each day, those count that were
// granted within paceNear of the same time of day. If today has paceToday of them, it counts alone. With
// fewer than paceFewest in all, the pace is not known.
const (
	paceDays   = 14
	paceNear   = 90 * time.Minute
	paceToday  = 20
	paceFewest = 10
)

// Pace returns how long leases were held at the hour of now, in unix ms of Redis's clock. As in the estimate
// of the engine, no lease counts for more than the length of a lease, and unclaimed ones do not count.
func (r *Reader) Pace(ctx context.Context, id wire.ID, now int64, lease time.Duration) (p Pace, err error) {
	err = r.reading(ctx, id, func(w *work) (err error) {
		p, err = w.pace(now, lease)
		return err
	})
	if err != nil {
		return Pace{}, fmt.Errorf("pace: %w", err)
	}
	return p, nil
}

func (w *work) pace(now int64, lease time.Duration) (Pace, error) {
	const day = 24 * time.Hour
	var h held
	for ago := range time.Duration(paceDays + 1) {
		at := now - (ago * day).Milliseconds()
		if err := w.held(&h, at-paceNear.Milliseconds(), at+paceNear.Milliseconds(), lease); err != nil {
			return Pace{}, err
		}
		if ago == 0 && h.n >= paceToday {
			break
		}
	}
	return h.pace(), nil
}

// held are the sums of how long leases were held, and of the squares, in ms.
type held struct{ n, sum, squares float64 }

// held adds the leases that were granted from a time until before another.
func (w *work) held(h *held, from, to int64, lease time.Duration) error {
	const began = `COALESCE(granted_at, ended_at, 0)`
	var n, sum, squares float64
	err := w.Row(`SELECT COUNT(*), COALESCE(SUM(held), 0), COALESCE(SUM(held * held), 0) FROM (
			SELECT CASE WHEN ended_at - granted_at < $4 THEN ended_at - granted_at ELSE $4 END AS held FROM leases
			WHERE room = $1 AND `+began+` >= $2 AND `+began+` < $3 AND granted_at <= ended_at
				AND outcome NOT IN ('unclaimed', 'lost')) AS of`,
		string(w.id), from, to, lease.Milliseconds()).Scan(&n, &sum, &squares)
	h.n, h.sum, h.squares = h.n+n, h.sum+sum, h.squares+squares
	return err
}

func (h held) pace() Pace {
	if h.n < paceFewest {
		return Pace{}
	}
	mean := h.sum / h.n
	spread := math.Sqrt(max(h.squares/h.n-mean*mean, 0))
	return Pace{Hold: milliseconds(mean), Spread: milliseconds(spread)}
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
