package server

import (
	"context"
	"strconv"
	"time"

	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/room"
)

// minutesShown is the length of the series.
const minutesShown = time.Hour

// minuteItem sums up one minute of a room. Times are unix ms and ms; -1 is unknown.
type minuteItem struct {
	Key      string               `json:"key"`
	At       int64                `json:"at"`
	Depth    int                  `json:"depth"`
	Granted  int                  `json:"granted"`
	WaitP50  int64                `json:"wait_p50"`
	WaitP95  int64                `json:"wait_p95"`
	DelayP50 int64                `json:"delay_p50"`
	DelayP95 int64                `json:"delay_p95"`
	Outcomes map[room.Outcome]int `json:"outcomes"`
}

// Minutes returns the last hour by the minute, or the minutes that may have changed since an instant (unix
// ms).
func (p *panels) Minutes(ctx context.Context, id room.ID, since int64) ([]desk.Item, error) {
	now := p.now()
	list, err := p.ledger.Minutes(ctx, id, max(since, now-minutesShown.Milliseconds()), now, true)
	if err != nil {
		return nil, err
	}
	items := make([]desk.Item, 0, len(list))
	for _, m := range list {
		key := strconv.FormatInt(m.At, 10)
		item, err := itemOf(key, minuteItem{Key: key, At: m.At, Depth: m.Depth, Granted: m.Granted,
			WaitP50: m.WaitP50, WaitP95: m.WaitP95,
			DelayP50: m.DelayP50, DelayP95: m.DelayP95, Outcomes: m.Outcomes})
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
