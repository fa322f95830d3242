// Package desktest is a page of support for tests: it takes frames as the script of the page does.
package desktest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/room"
)

// Page handles the frames of support's socket as the page of support does.
type Page struct {
	Frames  map[string]int // frames by type
	Room    string
	Epoch   int64
	Version int64
	Paused  bool
	Hold    int64
	Holder  *PageHolder
	Line    []PageWaiter

	Items, Minutes, Rooms, Pauses map[string]map[string]any
	Replicas                      []map[string]any
	Beat                          struct {
		ServerTime int64 `json:"server_time"`
		AsOf       int64 `json:"as_of"`
	}
}

// PageHolder is the holder of the lock.
type PageHolder struct {
	Ticket    int64  `json:"ticket"`
	SellerID  string `json:"seller_id"`
	Fence     int64  `json:"fence"`
	GrantedAt int64  `json:"granted_at"`
	ExpiresAt int64  `json:"expires_at"`
	Asked     int    `json:"asked"`
	Open      int    `json:"open"`
	AskAfter  *int64 `json:"ask_after"`
}

// PageWaiter is a waiter in the line.
type PageWaiter struct {
	Ticket   int64
	Seller   string
	JoinedAt int64
	Since    int64
}

type pageFrame struct {
	Type    string
	Room    string
	Epoch   int64
	Version int64
	Paused  bool
	Hold    int64
	Holder  *PageHolder
	Line    [][4]any
	Left    [][2]any
	Joined  [][4]any
	Moved   [][2]int64
	Away    [][2]int64
	Reset   bool
	Set     []map[string]any
	Drop    []string
	List    []map[string]any
}

// Take applies a frame.
func (p *Page) Take(text []byte) error {
	var f pageFrame
	if err := json.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	if p.Frames == nil {
		p.Frames, p.Items, p.Minutes, p.Rooms = map[string]int{}, map[string]map[string]any{},
			map[string]map[string]any{}, map[string]map[string]any{}
		p.Pauses = map[string]map[string]any{}
	}
	p.Frames[f.Type]++
	switch f.Type {
	case "desk":
		p.Line = nil
		for _, w := range f.Line {
			p.Line = append(p.Line, PageWaiter{integer(w[0]), w[1].(string), integer(w[2]), integer(w[3])})
		}
		p.Room = f.Room
		p.show(f)
	case "change":
		return p.change(f)
	case "items":
		merge(p.Items, f, "key")
	case "minutes":
		merge(p.Minutes, f, "key")
	case "pause":
		merge(p.Pauses, f, "key")
	case "rooms":
		merge(p.Rooms, f, "room")
	case "replicas":
		p.Replicas = f.List
	case "beat":
		return json.Unmarshal(text, &p.Beat)
	}
	return nil
}

func integer(v any) int64 { return int64(v.(float64)) }

func (p *Page) show(f pageFrame) {
	p.Epoch, p.Version, p.Paused, p.Hold, p.Holder = f.Epoch, f.Version, f.Paused, f.Hold, f.Holder
}

type pagePlacing struct {
	PageWaiter
	position int64
}

func (p *Page) change(f pageFrame) error {
	if f.Epoch == p.Epoch && f.Version != p.Version && f.Version != p.Version+1 {
		return fmt.Errorf("version %d after %d", f.Version, p.Version)
	}
	out := map[int64]bool{}
	for _, l := range f.Left {
		out[integer(l[0])] = true
	}
	if f.Holder != nil {
		out[f.Holder.Ticket] = true
	}
	var in []pagePlacing
	for _, m := range f.Moved {
		at := slices.IndexFunc(p.Line, func(w PageWaiter) bool { return w.Ticket == m[0] })
		if at < 0 {
			return fmt.Errorf("ticket %d is moved and does not wait", m[0])
		}
		out[m[0]] = true
		in = append(in, pagePlacing{p.Line[at], m[1]})
	}
	for _, j := range f.Joined {
		in = append(in, pagePlacing{PageWaiter{integer(j[0]), j[1].(string), integer(j[2]), 0}, integer(j[3])})
	}
	p.Line = slices.DeleteFunc(p.Line, func(w PageWaiter) bool { return out[w.Ticket] })
	slices.SortFunc(in, func(a, b pagePlacing) int { return int(a.position - b.position) })
	for _, one := range in {
		if one.position < 1 || int(one.position) > len(p.Line)+1 {
			return fmt.Errorf("position %d of %d", one.position, len(p.Line))
		}
		p.Line = slices.Insert(p.Line, int(one.position)-1, one.PageWaiter)
	}
	for _, a := range f.Away {
		at := slices.IndexFunc(p.Line, func(w PageWaiter) bool { return w.Ticket == a[0] })
		if at < 0 {
			return fmt.Errorf("ticket %d is away and does not wait", a[0])
		}
		p.Line[at].Since = a[1]
	}
	p.show(f)
	return nil
}

func merge(to map[string]map[string]any, f pageFrame, key string) {
	if f.Reset {
		clear(to)
	}
	for _, one := range f.Set {
		to[one[key].(string)] = one
	}
	for _, k := range f.Drop {
		delete(to, k)
	}
}

// Differs returns where the page differs from the engine's roster; "" = nowhere.
func (p *Page) Differs(r room.Roster) string {
	var line []PageWaiter
	for _, w := range r.Line {
		line = append(line, PageWaiter{w.Ticket, w.Seller, w.JoinedAt, w.AwaySince})
	}
	switch {
	case p.Epoch != r.Epoch || p.Version != r.Version:
		return fmt.Sprintf("at %d/%d, not %d/%d", p.Epoch, p.Version, r.Epoch, r.Version)
	case !slices.Equal(p.Line, line):
		return fmt.Sprintf("line %v, not %v", p.Line, line)
	case p.Paused != r.Paused || p.Hold != r.Hold.Milliseconds():
		return fmt.Sprintf("paused %v hold %d, not %v %d", p.Paused, p.Hold, r.Paused, r.Hold.Milliseconds())
	case (p.Holder != nil) != (r.Lease != nil):
		return fmt.Sprintf("holder %v, not %v", p.Holder, r.Lease)
	}
	if h := p.Holder; h != nil {
		found := room.Lease{Ticket: h.Ticket, Fence: h.Fence, GrantedAt: h.GrantedAt, ExpiresAt: h.ExpiresAt,
			Asked: h.Asked, Open: h.Open}
		want := *r.Lease
		want.AskAfter = 0
		if found != want || h.SellerID != r.Holder {
			return fmt.Sprintf("holder %+v, not %+v of %s", *h, want, r.Holder)
		}
	}
	return ""
}
