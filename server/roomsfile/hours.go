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
	if h == nil || h.within(now) {
		return time.Time{}
	}
	return h.next(now)
}

// BeginAgain returns when the hours begin next after now, also within them; the zero time if they never end.
func (h *Hours) BeginAgain(now time.Time) time.Time {
	if h == nil {
		return time.Time{}
	}
	for at, day := h.next(now), 0; day < daysAhead; at, day = h.next(at), day+1 {
		if !h.within(at.Add(-1)) { // else one time of the day follows another without a break
			return at
		}
	}
	return time.Time{}
}

// within reports whether an instant is within the hours.
func (h *Hours) within(now time.Time) bool {
	for day := -1; day <= 0; day++ {
		for _, s := range h.on(now, day) {
			if !now.Before(s.from) && now.Before(s.to) {
				return true
			}
		}
	}
	return false
}

// next returns when a time of the hours begins next. If every day is off, it is a day far ahead.
func (h *Hours) next(now time.Time) (next time.Time) {
	for day := 0; day <= daysAhead; day++ {
		for _, s := range h.on(now, day) {
			if s.from.After(now) && (next.IsZero() || s.from.Before(next)) {
				next = s.from
			}
		}
		if !next.IsZero() {
			return next
		}
	}
	return h.at(dateOf(now.In(h.zone).AddDate(0, 0, daysAhead)), 0) // the same for the whole day
}

// openTime is from when to when a room is open.
type openTime struct{ from, to time.Time }

// on returns the hours of the day that is so many days after now's.
func (h *Hours) on(now time.Time, day int) (list []openTime) {
	today := now.In(h.zone)
	noon := time.Date(today.Year(), today.Month(), today.Day()+day, 12, 0, 0, 0, h.zone)
	on := dateOf(noon)
	if !h.weekdays[noon.Weekday()] || h.off[on] {
		return nil
	}
	for _, t := range h.times {
		list = append(list, openTime{h.at(on, t.from), h.at(on, t.to)})
	}
	return list
}

// at returns the instant of a time of a day by the clock on the wall. Where clocks skip that time, it is as
// much later; where they show it twice, it is the first.
func (h *Hours) at(on date, minutes int) time.Time {
	t := time.Date(on.year, on.month, on.day, minutes/60, minutes%60, 0, 0, h.zone)
	wall := time.Date(on.year, on.month, on.day, minutes/60, minutes%60, 0, 0, time.UTC)
	_, offset := t.Add(-4 * time.Hour).Zone() // before a change of the clock
	before := wall.Add(time.Duration(-offset) * time.Second).In(h.zone)
	if shows(t, wall) && !shows(before, wall) {
		return t
	}
	return before
}

// shows reports whether the clock on the wall shows at t what it shows at wall.
func shows(t, wall time.Time) bool {
	return dateOf(t) == dateOf(wall) && t.Hour() == wall.Hour() && t.Minute() == wall.Minute()
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
	for _, item := range n.each() {
		if item.kind != scalar {
			return nil, fmt.Errorf("has %s: want a list of texts, each in quotes within braces", item.shown())
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
	if v.kind != scalar && len(v.items)+len(v.pairs) == 0 {
		return nil // there is none
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
