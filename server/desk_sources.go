package server

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/heard"
)

// sourceItem is a phone or provider that posts a room's messages. Times are unix ms.
type sourceItem struct {
	Key     string `json:"key"` // its name; "" = the carrier that signs by Standard Webhooks
	Kind    string `json:"kind"`
	HeardAt int64  `json:"heard_at"` // 0 = never
	// the delay of its clock, negative if ahead; 0 = correct or unknown
	Clock int64 `json:"clock_ms"`
	// events of the last hour that were no message, by name
	Events map[string]int `json:"events"`
}

// Sources returns a room's phones and providers, and when each last posted. A Standard Webhooks carrier is
// listed after its first message.
func (p *panels) Sources(ctx context.Context, id room.ID) ([]desk.Item, error) {
	configured := p.sources(id)
	names := append([]string{""}, slices.Sorted(maps.Keys(configured))...)
	fields := make([]string, len(names))
	for i, name := range names {
		fields[i] = heard.Field(id, name)
	}
	last, err := heard.Read(ctx, p.client, p.engine.Names(), fields...)
	if err != nil {
		return nil, err
	}
	events, err := heard.Events(ctx, p.client, p.engine.Names(), id, time.UnixMilli(p.now()))
	if err != nil {
		return nil, err
	}
	var items []desk.Item
	for i, name := range names {
		seen, known := last[fields[i]]
		if !known && name == "" {
			continue
		}
		s := sourceItem{Key: name, Kind: configured[name].Kind, Clock: seen.Off.Milliseconds(),
			Events: events[name]}
		if s.Events == nil {
			s.Events = map[string]int{}
		}
		if known {
			s.HeardAt = seen.At.UnixMilli()
		}
		item, err := itemOf(name, s)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
