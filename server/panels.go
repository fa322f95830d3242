package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/heard"
	"github.com/waitroom/waitroom/sms/source"
)

const (
	mostItems      = 200
	troubledFor    = 24 * time.Hour  // how long the desk shows a message or an incident
	recordedWithin = 5 * time.Second // then the ledger has an event
	alertWithin    = 2 * time.Second
)

// panels supplies the desk's side panels: the store's recent messages, and the ledger's last day.
type panels struct {
	engine  *room.Engine
	ledger  *read.Reader
	client  redis.UniversalClient
	sources func(room.ID) map[string]source.Configured

	mu    sync.Mutex
	again map[room.ID]bool // rooms with a scheduled second lookup
}

func newPanels(e *room.Engine, l *read.Reader, client redis.UniversalClient,
	sources func(room.ID) map[string]source.Configured) *panels {
	return &panels{engine: e, ledger: l, client: client, sources: sources, again: make(map[room.ID]bool)}
}

// pauseItem is a pause of the room, with its author and reason. Times are unix ms.
type pauseItem struct {
	Key    string `json:"key"`
	Who    string `json:"who"`
	Reason string `json:"reason"`
	At     int64  `json:"at"`
}

// Items returns the messages and incidents for a person to check, latest first. While the ledger is away,
// only the store's.
func (p *panels) Items(ctx context.Context, id room.ID) ([]desk.Item, error) {
	letters, err := p.engine.RecentMessages(ctx, id)
	if err != nil {
		return nil, err
	}
	now := p.now()
	lost, incidents, err := p.ledger.Troubles(ctx, id, now-troubledFor.Milliseconds(), mostItems)
	if err != nil {
		lost, incidents = nil, nil
	}
	messages := messageItems(letters, lost)
	if err == nil && slices.ContainsFunc(messages,
		func(m messageItem) bool {
			return m.SentAt == nil && m.From == "" &&
				now-m.At < recordedWithin.Milliseconds()
		}) {
		p.lookAgain(id)
	}
	return itemsOf(messages, incidentItems(incidents))
}

// Pauses returns the room's latest pause, with the audit's author and reason.
func (p *panels) Pauses(ctx context.Context, id room.ID) ([]desk.Item, error) {
	last, found, err := p.ledger.LastPause(ctx, id)
	if err != nil || !found {
		return nil, err
	}
	key := fmt.Sprint(last.At)
	item, err := itemOf(key, pauseItem{Key: key, Who: last.Who, Reason: last.Reason, At: last.At})
	return []desk.Item{item}, err
}

// now returns Redis's time, or this process's while that is unknown.
func (p *panels) now() int64 { return cmp.Or(p.engine.At(time.Now()), time.Now().UnixMilli()) }

// lookAgain schedules a second lookup of a room's items, by when the ledger should have the latest message's
// sender.
func (p *panels) lookAgain(id room.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.again[id] {
		return
	}
	p.again[id] = true
	time.AfterFunc(recordedWithin/2, func() {
		p.mu.Lock()
		delete(p.again, id)
		p.mu.Unlock()
		p.alert(id)
	})
}

// alert makes all replicas look up a room's items. On failure they look at the next change.
func (p *panels) alert(id room.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), alertWithin)
	defer cancel()
	_ = p.engine.Alert(ctx, id)
}

func itemOf(key string, of any) (desk.Item, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return desk.Item{}, fmt.Errorf("encode item: %w", err)
	}
	return desk.Item{Key: key, JSON: text}, nil
}

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
