package server

import (
	"context"
	"maps"
	"slices"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/room"
)

// sourceItem is a phone or provider that a room takes messages from. Times are unix ms.
type sourceItem struct {
	Key     string `json:"key"` // its name; "" = the carrier that signs as Standard Webhooks
	Kind    string `json:"kind"`
	HeardAt int64  `json:"heard_at"` // 0 = never
	Clock   int64  `json:"clock_ms"` // how far its clock is behind, negative where it is ahead; 0 = it is right, or that is not known
}

// Sources are the phones and providers of a room, and when each was last heard. A carrier that signs as Standard
// Webhooks is one of them once it was heard.
func (d *desk) Sources(ctx context.Context, id room.ID) ([]hub.Item, error) {
	configured := d.sources(id)
	names := append([]string{""}, slices.Sorted(maps.Keys(configured))...)
	fields := make([]string, len(names))
	for i, name := range names {
		fields[i] = heardField(id, name)
	}
	last, err := readHeard(ctx, d.client, d.engine.Names(), fields...)
	if err != nil {
		return nil, err
	}
	var items []hub.Item
	for i, name := range names {
		heard, known := last[fields[i]]
		if !known && name == "" {
			continue
		}
		s := sourceItem{Key: name, Kind: configured[name].Kind, Clock: heard.off.Milliseconds()}
		if known {
			s.HeardAt = heard.at.UnixMilli()
		}
		item, err := itemOf(name, s)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
