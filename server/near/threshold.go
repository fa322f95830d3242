package near

import (
	"errors"
	"strconv"
	"time"

	"github.com/waitroom/waitroom/room"
)

// Threshold is when a place is near: few are ahead, or the estimated wait is short. The zero value is never.
type Threshold struct {
	Ahead int           // waiters ahead
	Wait  time.Duration // estimated wait; used if Ahead is 0
}

// The limits of a threshold. A longer line ahead, or a longer wait, is not near.
const (
	mostAhead = 100
	leastWait = time.Second
	mostWait  = time.Hour
)

// Parse returns the threshold in a text: a number of waiters ahead ("3"), a wait ("2m"), or "" for never.
func Parse(text string) (t Threshold, err error) {
	if text == "" {
		return t, nil
	}
	if t.Ahead, err = strconv.Atoi(text); err == nil && t.Ahead >= 1 && t.Ahead <= mostAhead {
		return t, nil
	}
	if t.Wait, err = time.ParseDuration(text); err == nil && t.Wait >= leastWait && t.Wait <= mostWait {
		return Threshold{Wait: t.Wait}, nil
	}
	return Threshold{}, errors.New("want how many are ahead, from 1 to 100, such as 3, or an estimated wait, " +
		"from 1s to 1h, such as 2m; leave it empty for no place.near")
}

// Off reports whether no place is ever near.
func (t Threshold) Off() bool { return t == Threshold{} }

// reached reports whether position p of a room is near. If it is not, no later position is.
func (t Threshold) reached(v room.View, p int, lease time.Duration) bool {
	if t.Ahead > 0 {
		return p-1 <= t.Ahead
	}
	waits, known := v.WaitsAt(p, v.Now, lease)
	return known && waits.Estimated <= t.Wait
}
