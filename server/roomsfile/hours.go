package roomsfile

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // zones by name, also where the machine has none
)

// Hours are the weekly times in which a room takes new places. They are safe for concurrent use.
type Hours struct {
	weekdays [7]bool
	times    []hoursOfDay
	zone     *time.Location
	off      map[date]bool
}

// hoursOfDay are in minutes since midnight by the clock on the wall; over 24 hours is on the next day.
type hoursOfDay struct{ from, to int }

type date struct {
	year  int
	month time.Month
	day   int
}

func dateOf(t time.Time) date {
	y, m, d := t.Date()
	return date{y, m, d}
}

// daysAhead is how far ahead a beginning is looked for: over a year, since days off are single dates.
const daysAhead = 400

// OpensAt returns when the hours begin next, the zero time within them. Without hours a room is always open.
func (h *Hours) OpensAt(now time.Time) time.Time {
	if within, begins := h.around(now); !within {
		return begins
	}
	return time.Time{}
}

// BeginAgain returns when the hours begin next after now, also within them; the zero time without hours.
func (h *Hours) BeginAgain(now time.Time) time.Time {
	_, begins := h.around(now)
	return begins
}

// around reports whether now is within the hours, and returns when they begin next.
func (h *Hours) around(now time.Time) (within bool, begins time.Time) {
	if h == nil {
		return true, time.Time{}
	}
	today := now.In(h.zone)
	for day := -1; day <= daysAhead; day++ {
		noon := time.Date(today.Year(), today.Month(), today.Day()+day, 12, 0, 0, 0, h.zone)
		on := dateOf(noon)
		if !h.weekdays[noon.Weekday()] || h.off[on] {
			continue
		}
		for _, s := range h.times {
			from, to := h.at(on, s.from), h.at(on, s.to)
			switch {
			case !now.Before(from) && now.Before(to):
				within = true
			case from.After(now) && (begins.IsZero() || from.Before(begins)):
				begins = from
			}
		}
		if !begins.IsZero() {
			return within, begins
		}
	}
	return within, now.AddDate(0, 0, daysAhead) // every day until then is off
}

// at returns the instant of a time of a day by the clock on the wall. Where clocks skip that time, it is as
// much after the gap.
func (h *Hours) at(on date, minutes int) time.Time {
	return time.Date(on.year, on.month, on.day, minutes/60, minutes%60, 0, 0, h.zone)
}

const (
	mostTimes = 10  // of a day
	mostOff   = 400 // days
	midnight  = 24 * 60
)

// open parses a room's hours.
func (r *reader) open(d *draft, v *node) error {
	if v.kind == scalar && strings.TrimSpace(v.text) == "always" {
		d.set = append(d.set, func(e *Entry) { e.Open = nil })
		return nil
	}
	if v.kind != group {
		return fmt.Errorf("is %s: want weekdays, times and time_zone under it, or always", v.shown())
	}
	h := &Hours{}
	read := map[string]func(*node) error{"weekdays": h.readWeekdays, "times": h.readTimes,
		"time_zone": h.readZone, "days_off": h.readOff}
	for _, p := range v.pairs {
		parse := read[p.key.text]
		if parse == nil {
			r.wrong(p.key.line, "%s: %s is not known in open: want weekdays, times, time_zone and days_off", d.name,
				p.key.text)
		} else if err := parse(p.value); err != nil {
			r.wrong(p.value.line, "%s: open.%s %v", d.name, p.key.text, err)
		}
	}
	for _, name := range []string{"weekdays", "times", "time_zone"} {
		if v.value(name) == nil {
			return fmt.Errorf("has no %s: want weekdays such as mon-fri, times such as 09:00-18:00, and a "+
				"time_zone such as Asia/Seoul", name)
		}
	}
	d.set = append(d.set, func(e *Entry) { e.Open = h })
	return nil
}

// values returns the texts of a list, or of one value.
func (n *node) values() (list []string, err error) {
	items := n.items
	if n.kind == scalar {
		items = []*node{n}
	}
	for _, item := range items {
		if item.kind != scalar {
			return nil, fmt.Errorf("has %s: want a list of texts", item.shown())
		}
		list = append(list, strings.TrimSpace(item.text))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("is %s: want one or a list", n.shown())
	}
	return list, nil
}

var weekdayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func weekday(text string) (int, error) {
	for i, name := range weekdayNames {
		if text = strings.ToLower(text); text == name || text == strings.ToLower(time.Weekday(i).String()) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("has %q: want mon, tue, wed, thu, fri, sat, sun, or from one to another: mon-fri", text)
}

func (h *Hours) readWeekdays(v *node) error {
	list, err := v.values()
	if err != nil {
		return err
	}
	for _, text := range list {
		first, last, several := strings.Cut(text, "-")
		from, err := weekday(strings.TrimSpace(first))
		to := from
		if err == nil && several {
			to, err = weekday(strings.TrimSpace(last))
		}
		if err != nil {
			return err
		}
		for day := from; ; day = (day + 1) % 7 {
			h.weekdays[day] = true
			if day == to {
				break
			}
		}
	}
	return nil
}

func (h *Hours) readTimes(v *node) error {
	list, err := v.values()
	if err != nil {
		return err
	}
	if len(list) > mostTimes {
		return fmt.Errorf("has %d: want at most %d", len(list), mostTimes)
	}
	for _, text := range list {
		first, last, ok := strings.Cut(text, "-")
		from, errFrom := minutes(first)
		to, errTo := minutes(last)
		if !ok || errFrom != nil || errTo != nil || from == midnight || from == to {
			return fmt.Errorf("has %q: want from when until when, such as 09:00-18:00; 00:00-24:00 is the whole day",
				text)
		}
		if to < from { // it ends on the next day
			to += midnight
		}
		h.times = append(h.times, hoursOfDay{from, to})
	}
	return nil
}

// minutes parses a time of a day, as minutes since midnight.
func minutes(text string) (int, error) {
	text = strings.TrimSpace(text)
	if text == "24:00" {
		return midnight, nil
	}
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err
}

func (h *Hours) readZone(v *node) (err error) {
	name := strings.TrimSpace(v.text)
	h.zone, err = time.LoadLocation(name)
	if err != nil || v.kind != scalar || name == "" || name == "Local" {
		return fmt.Errorf("is %s: want a zone of the IANA database, such as Asia/Seoul", v.shown())
	}
	return nil
}

func (h *Hours) readOff(v *node) error {
	if v.kind == nothing {
		return nil
	}
	list, err := v.values()
	if err != nil {
		return err
	}
	if len(list) > mostOff {
		return errors.New("has over 400 days: remove those that have passed")
	}
	h.off = make(map[date]bool, len(list))
	for _, text := range list {
		t, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return fmt.Errorf("has %q: want dates such as 2026-12-25", text)
		}
		h.off[dateOf(t)] = true
	}
	return nil
}

// Zone returns the time zone of the hours; nil without hours.
func (h *Hours) Zone() *time.Location {
	if h == nil {
		return nil
	}
	return h.zone
}
