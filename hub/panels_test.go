package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/desk/desktest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// drawer is a desk's source of panels that a test fills.
type drawer struct {
	mu      sync.Mutex
	items   []desk.Item
	minutes []desk.Item
	sources []desk.Item
	pauses  []desk.Item
	paused  int     // how often pauses were asked for
	looks   int     // how often items were asked for
	asked   []int64 // since when minutes were asked for
	away    bool
	busy    int
	most    int // questions at the same time
}

func (d *drawer) Items(context.Context, room.ID) ([]desk.Item, error) {
	defer d.enter()()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks++
	return d.items, d.failure()
}

func (d *drawer) Sources(context.Context, room.ID) ([]desk.Item, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sources, d.failure()
}

func (d *drawer) Pauses(context.Context, room.ID) ([]desk.Item, error) {
	defer d.enter()()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paused++
	return d.pauses, d.failure()
}

// pausedBy sets which agent made the next pause.
func (d *drawer) pausedBy(key, who string, away bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := fmt.Sprintf(`{"key":%q,"who":%q,"reason":"why","at":%s}`, key, who, key)
	d.pauses, d.away = []desk.Item{{Key: key, JSON: json.RawMessage(text)}}, away
}

func (d *drawer) Minutes(_ context.Context, _ room.ID, since int64) ([]desk.Item, error) {
	defer d.enter()()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, since)
	return d.minutes, d.failure()
}

func (d *drawer) failure() error {
	if d.away {
		return errors.New("the database is away")
	}
	return nil
}

func (d *drawer) enter() (leave func()) {
	d.add(1)
	return func() { d.add(-1) }
}

func (d *drawer) add(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy += n
	d.most = max(d.most, d.busy)
}

func (d *drawer) seen() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks
}

func (d *drawer) put(items, minutes []desk.Item, away bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.items, d.minutes, d.away = items, minutes, away
}

func item(key, word string) desk.Item {
	return desk.Item{Key: key, JSON: json.RawMessage(fmt.Sprintf(`{"key":%q,"word":%q}`, key, word))}
}

func shows(list func(*desktest.Page) map[string]map[string]any,
	want map[string]string) func(*desktest.Page) bool {
	return func(p *desktest.Page) bool {
		have := list(p)
		for key, word := range want {
			if have[key]["word"] != word {
				return false
			}
		}
		return len(have) == len(want)
	}
}

func items(p *desktest.Page) map[string]map[string]any   { return p.Items }
func minutes(p *desktest.Page) map[string]map[string]any { return p.Minutes }

func TestSupportGetsTheChangesOfMessagesAndIncidents(t *testing.T) {
	d := &drawer{items: []desk.Item{item("m:1", "a"), item("m:2", "b")}}
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Desk: desk.Settings{Panels: d}})
	s := r.watch(lobby)
	s.until("the items", shows(items, map[string]string{"m:1": "a", "m:2": "b"}))
	d.put([]desk.Item{item("m:3", "c"), item("m:2", "b, assigned")}, nil, false)
	require.NoError(t, r.Engine.Alert(t.Context(), lobby))
	s.until("what changed", shows(items, map[string]string{"m:3": "c", "m:2": "b, assigned"}))
	looks := d.seen()
	require.NoError(t, r.Engine.Alert(t.Context(), lobby))
	testproc.Until(t, within, func() error {
		if d.seen() == looks {
			return errors.New("not asked again")
		}
		return nil
	})

	d.put(nil, nil, true)
	require.NoError(t, r.Engine.Alert(t.Context(), lobby))
	next := r.watch(lobby)
	next.until("what was known", shows(items, map[string]string{"m:3": "c", "m:2": "b, assigned"}))
	d.put([]desk.Item{item("m:4", "d")}, nil, false)
	for _, s := range []*screen{s, next} {
		s.until("the database is back", shows(items, map[string]string{"m:4": "d"}))
		require.Equal(t, "desk", kind(s.frames()[0]))
	}
	require.Equal(t, 3, s.count("items"), "unchanged items are not sent again")
	next.until("the replicas", func(p *desktest.Page) bool { return p.Frames["replicas"] > 0 })
	require.Equal(t, []string{"desk", "items", "minutes"}, kinds(next.frames()[:3]))
	require.Equal(t, 1, d.most, "one question at a time")
}

func TestSupportSeesThePhonesOnceThereAreAny(t *testing.T) {
	d := &drawer{}
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Desk: desk.Settings{Panels: d}})
	s := r.watch(lobby)
	s.until("the items", func(p *desktest.Page) bool { return p.Frames["minutes"] > 0 })
	require.Zero(t, s.count("sources"))
	d.mu.Lock()
	d.sources = []desk.Item{{Key: "phone",
		JSON: []byte(`{"key":"phone","kind":"twilio","heard_at":5,"clock_ms":0,"events":{}}`)}}
	d.mu.Unlock()
	require.NoError(t, r.Engine.Alert(t.Context(), lobby))
	s.until("the phone", func(p *desktest.Page) bool { return p.Frames["sources"] == 1 })
	d.mu.Lock()
	d.sources = nil
	d.mu.Unlock()
	require.NoError(t, r.Engine.Alert(t.Context(), lobby))
	s.until("that it is gone", func(p *desktest.Page) bool { return p.Frames["sources"] == 2 })
	frames := s.frames()
	require.JSONEq(t, `{"type":"sources","set":[],"drop":["phone"]}`,
		frames[slices.IndexFunc(frames, func(f string) bool {
			return strings.Contains(f,
				`"drop":["phone"]`)
		})])
}

func kind(text string) string {
	var f struct{ Type string }
	_ = json.Unmarshal([]byte(text), &f)
	return f.Type
}

func kinds(list []string) (all []string) {
	for _, text := range list {
		all = append(all, kind(text))
	}
	return all
}

func TestSupportGetsTheMinutesAfterAChange(t *testing.T) {
	t.Parallel()
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{})
	now, err := r.Redis.Time(t.Context()).Result()
	require.NoError(t, err)
	minute := now.UnixMilli() / 60_000 * 60_000
	at := func(minutes int64) string { return fmt.Sprint(minute + minutes*60_000) }
	d := &drawer{minutes: []desk.Item{item(at(-70), "old"), item(at(-1), "before"), item(at(0), "now")}}
	r = start(t, r.Redis, room.Config{}, hub.Config{Desk: desk.Settings{Panels: d}})
	s := r.watch(lobby)
	s.until("the last hour", shows(minutes, map[string]string{at(-70): "old", at(-1): "before",
		at(0): "now"}))
	d.put(nil, []desk.Item{item(at(-1), "before"), item(at(0), "more")}, false)
	join(t, r.Engine, room.NewSession())
	s.until("what changed", shows(minutes, map[string]string{at(-70): "old", at(-1): "before",
		at(0): "more"}))
	r.watch(lobby).until("the last hour", shows(minutes, map[string]string{at(-1): "before", at(0): "more"}))
	d.mu.Lock()
	defer d.mu.Unlock()
	require.Zero(t, d.asked[0])
	require.GreaterOrEqual(t, d.asked[1], minute-60_000)
	require.Zero(t, d.asked[1]%60_000)
}

func pausedBy(who ...string) func(*desktest.Page) bool {
	return func(p *desktest.Page) bool {
		var shown []string
		for _, pause := range p.Pauses {
			shown = append(shown, fmt.Sprint(pause["who"]))
		}
		return slices.Equal(shown, who) && p.Paused == (len(who) > 0)
	}
}

func TestSupportSeesTheAgentThatPausedTheRoomWhileItIsPaused(t *testing.T) {
	d := &drawer{}
	r := start(t, redistest.Start(t).Client(), room.Config{}, hub.Config{Desk: desk.Settings{Panels: d}})
	pauseRoom := func(id room.ID, paused bool) {
		_, err := r.Engine.Pause(t.Context(), id, "", paused,
			room.Action{Who: "kim", Action: "pause", Reason: "why"})
		require.NoError(t, err)
	}
	pause := func(paused bool) { pauseRoom(lobby, paused) }
	d.pausedBy("5", "choi", false)
	pauseRoom("before", true)
	r.watch("before").until("who paused it before anybody watched", pausedBy("choi"))
	s := r.watch(lobby)
	s.until("the room", func(p *desktest.Page) bool { return p.Frames["desk"] == 1 && p.Frames["items"] == 1 })
	require.Zero(t, s.count("pause"), "a room that was never paused has no pause")
	d.pausedBy("10", "kim", false)
	pause(true)
	s.until("who paused it", pausedBy("kim"))
	newcomer := r.watch(lobby)
	newcomer.until("the same", pausedBy("kim"))
	pause(false)
	for _, one := range []*screen{s, newcomer} {
		one.until("that it goes on", pausedBy())
	}
	d.pausedBy("20", "lee", true)
	pause(true)
	s.until("that it is paused", func(p *desktest.Page) bool { return p.Paused })
	testproc.Until(t, within, func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.paused < 3 {
			return errors.New("not asked")
		}
		return nil
	})
	d.pausedBy("20", "lee", false)
	s.until("who, once that can be read", pausedBy("lee"))
}
