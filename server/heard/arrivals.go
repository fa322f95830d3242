package heard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
)

// The last arrivals of each source are kept in two lists, so that requests without a right signature, which
// anybody can send, never replace the others.
const (
	arrivalsKey  = "{waitroom}:arrivals:"
	unsignedKey  = "{waitroom}:unsigned:"
	arrivalsKept = 20
	arrivalsFor  = 7 * 24 * time.Hour
	writeEvery   = time.Second // a list, at most
)

// Arrival is a recorded sms.Arrival. Several refusals in a row that are alike are one.
type Arrival struct {
	At int64 `json:"at"` // unix ms, of the last one
	sms.Arrival
	Times int `json:"times"`
}

// unwritten are the arrivals of a list that the store does not have yet.
type unwritten struct{ last []Arrival }

// Arrived records an arrival. It returns at once; the store has it within a second.
func (h *Recorder) Arrived(a sms.Arrival) {
	now := time.Now()
	one := Arrival{At: cmp.Or(h.engine.At(now), now.UnixMilli()), Arrival: a, Times: 1}
	list := arrivalsKey + a.Source
	if !a.Signed {
		list = unsignedKey + a.Source
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.unwritten[list]
	if u == nil {
		u = &unwritten{}
		h.unwritten[list] = u
		time.AfterFunc(0, func() { h.write(list, u) })
	}
	if n := len(u.last); n > 0 && a.Refused && u.last[n-1].Arrival == a {
		one.Times += u.last[n-1].Times
		u.last = u.last[:n-1]
	}
	u.add(one)
}

func (u *unwritten) add(list ...Arrival) {
	u.last = append(u.last, list...)
	u.last = u.last[max(0, len(u.last)-arrivalsKept):]
}

// write writes the arrivals of a list, and repeats until there are none.
func (h *Recorder) write(list string, u *unwritten) {
	h.mu.Lock()
	taken := u.last
	u.last = nil
	if len(taken) == 0 {
		delete(h.unwritten, list)
	}
	h.mu.Unlock()
	if len(taken) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	switch err := h.push(ctx, h.engine.Names().Key(list), taken); {
	case errors.Is(err, redis.ErrClosed):
		return
	case err != nil:
		h.mu.Lock()
		later := u.last
		u.last = taken
		u.add(later...)
		h.mu.Unlock()
	}
	time.AfterFunc(writeEvery, func() { h.write(list, u) })
}

func (h *Recorder) push(ctx context.Context, key string, arrivals []Arrival) error {
	var values []any
	for _, a := range arrivals {
		text, err := json.Marshal(a)
		if err != nil {
			return fmt.Errorf("encode an arrival: %w", err)
		}
		values = append(values, text)
	}
	pipe := h.client.Pipeline()
	pipe.LPush(ctx, key, values...)
	pipe.LTrim(ctx, key, 0, arrivalsKept-1)
	pipe.PExpire(ctx, key, arrivalsFor)
	_, err := pipe.Exec(ctx)
	return err
}

// Arrivals returns the last arrivals of a source, the newest first; of "" also those of unknown sources.
func Arrivals(ctx context.Context, client redis.UniversalClient, names room.Names, source string) ([]Arrival,
	error) {
	var all []Arrival
	for _, list := range []string{arrivalsKey, unsignedKey} {
		texts, err := client.LRange(ctx, names.Key(list+source), 0, -1).Result()
		if err != nil {
			return nil, fmt.Errorf("read arrivals: %w", err)
		}
		for _, text := range texts {
			var a Arrival
			if err := json.Unmarshal([]byte(text), &a); err != nil {
				return nil, fmt.Errorf("read arrivals: %w", err)
			}
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b Arrival) int { return cmp.Compare(b.At, a.At) })
	return all, nil
}
