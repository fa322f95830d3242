package templates

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// soon is a wait, in seconds, below which the page says "soon" instead of a number.
const soon = 10

// waitParts returns when the turn comes, and by when at the latest. If both are the same, it
// returns the latest alone.
func waitParts(t LiveText, estimated, maximum *int, usual Usual) (words, latest string) {
	if estimated == nil || maximum == nil {
		return t.NoWaits, ""
	}
	latest = fill(t.WaitMax, "max", ceiling(t, *maximum))
	switch {
	case *estimated <= soon:
		return t.WaitSoon, latest
	case *estimated < 60:
		return t.WaitUnder, latest
	}
	if nearest(*estimated) >= longest(*maximum) {
		return fill(t.WaitCeiling, "max", ceiling(t, *maximum)), ""
	}
	if from, to, shown := usual.minutes(*estimated, *maximum); shown {
		return fill(t.WaitUsual, "from", from, "to", to), latest
	}
	return fill(t.WaitAbout, "wait", estimate(t, *estimated)), latest
}

// WhenWords returns an approximate time of day: "오후 6:12쯤".
func WhenWords(lang string, hour, minute int) string {
	t := TextIn(lang).Live
	return fill(t.When, "time", timeWords(t, hour, minute))
}

// timeWords returns a time of day to the minute: "오후 6:12".
func timeWords(t LiveText, hour, minute int) string {
	pattern := t.Morning
	if hour >= 12 {
		pattern = t.Afternoon
	}
	return fill(pattern, "h", (hour+11)%12+1, "hh", hour, "mm", fmt.Sprintf("%02d", minute))
}

// OpensWords returns when a closed room opens, both times in the reader's zone: "내일 오전 9:00에 열려요".
func OpensWords(lang string, at, now time.Time) string {
	t := TextIn(lang).Live
	clock := timeWords(t, at.Hour(), at.Minute())
	midnight := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}
	switch midnight(at).Sub(midnight(now)) {
	case 0:
		return fill(t.OpensToday, "time", clock)
	case 24 * time.Hour:
		return fill(t.OpensTomorrow, "time", clock)
	}
	date := fill(t.Date, "month", t.Months[at.Month()-1], "day", at.Day())
	return fill(t.OpensOn, "date", date, "time", clock)
}

// AheadWords returns how many sellers are before a position.
func AheadWords(lang string, position int) string {
	t := TextIn(lang).Live
	if position <= 1 {
		return t.Next
	}
	return fill(t.Ahead, "n", position-1)
}

// PlaceWords returns a place in line, which begins with its number: "5번째".
func PlaceWords(lang string, position int) string {
	return fill(TextIn(lang).Live.Place, "n", position)
}

// SpanWords returns a length of time exactly, to the second: "1분 30초".
func SpanWords(lang string, seconds int) string {
	return span(TextIn(lang).Live, seconds)
}

// sentences joins two sentences: a full stop of Chinese and Japanese is as wide as a space already.
func sentences(first, second string) string {
	if strings.HasSuffix(first, "。") {
		return first + second
	}
	return first + " " + second
}

// Clock returns a countdown's m:ss. A second that has begun counts as whole, so that 0:00 means over.
func Clock(milliseconds int64) string {
	seconds := max(milliseconds+999, 0) / 1000
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

func estimate(t LiveText, seconds int) string {
	switch minutes := nearest(seconds); {
	case seconds <= soon:
		return t.Soon
	case seconds < 60:
		return t.UnderMinute
	case minutes < 60:
		return fill(t.AboutMinutes, "m", minutes)
	default:
		return hours(minutes, t.AboutHours, t.AboutHoursMin)
	}
}

// nearest returns a wait in minutes, from an hour on in steps of five.
func nearest(seconds int) int {
	minutes := (seconds + 30) / 60
	if minutes < 60 {
		return minutes
	}
	return (minutes + 2) / 5 * 5
}

// longest rounds up, since the real wait must not exceed the shown maximum.
func longest(seconds int) int {
	minutes := max((seconds+59)/60, 1)
	if minutes < 60 {
		return minutes
	}
	return (minutes + 4) / 5 * 5
}

func ceiling(t LiveText, seconds int) string {
	minutes := longest(seconds)
	if minutes < 60 {
		return fill(t.Minutes, "m", minutes)
	}
	return hours(minutes, t.Hours, t.HoursMin)
}

func hours(minutes int, whole, rest string) string {
	if minutes%60 == 0 {
		return fill(whole, "h", minutes/60)
	}
	return fill(rest, "h", minutes/60, "m", minutes%60)
}

func span(t LiveText, seconds int) string {
	switch minutes, rest := seconds/60, seconds%60; {
	case minutes == 0:
		return fill(t.Seconds, "s", rest)
	case rest == 0:
		return fill(t.Minutes, "m", minutes)
	default:
		return fill(t.MinutesSec, "m", minutes, "s", rest)
	}
}

var placeholder = regexp.MustCompile(`\{(\w+)(?::([^}]*))?\}`)

// fill puts values, given as name, value, name, value …, into a pattern.
func fill(pattern string, pairs ...any) string {
	return placeholder.ReplaceAllStringFunc(pattern, func(found string) string {
		part := placeholder.FindStringSubmatch(found)
		value := valueOf(part[1], pairs)
		switch forms := strings.Split(part[2], ":"); {
		case len(forms) == 4:
			return value + forms[ordinal(value)]
		case len(forms) == 1:
			return value
		case value == "1":
			return value + " " + forms[0]
		default:
			return value + " " + forms[1]
		}
	})
}

// ordinal returns which of st, nd, rd and th follows a number in English: 1st, 11th, 22nd, 113th.
func ordinal(number string) int {
	n, _ := strconv.Atoi(number)
	if n/10%10 == 1 || n%10 == 0 || n%10 > 3 {
		return 3
	}
	return n%10 - 1
}

// isolated keeps a right-to-left text from changing the order of its neighbours.
func isolated(text string) string {
	if strings.ContainsFunc(text, rightToLeft) {
		return "\u2068" + text + "\u2069"
	}
	return text
}

func rightToLeft(r rune) bool {
	return r >= 0x0590 && r <= 0x08ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc ||
		r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

func valueOf(name string, pairs []any) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] != name {
			continue
		}
		switch value := pairs[i+1].(type) {
		case string:
			return isolated(value)
		case int:
			return strconv.Itoa(value)
		case int64:
			return strconv.FormatInt(value, 10)
		}
	}
	return ""
}
