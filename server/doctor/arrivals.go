package doctor

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/heard"
	"github.com/waitroom/waitroom/server/store"
)

// arrivals reports what came last from the sources of a name, the newest first, and what was posted to
// addresses that name no source.
func (d *doctor) arrivals(ctx context.Context) {
	const about = "sources"
	name := d.Only.Source
	if !d.known() && name == carrier {
		name = ""
	}
	s, names, ok := d.opened(about,
		"Look at the room's desk, /support/ROOM: it shows each message and each refusal.")
	if !ok {
		return
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	came, err := heard.Arrivals(ctx, s.Client, names, name)
	astray, err2 := heard.Arrivals(ctx, s.Client, names, "")
	if cmp.Or(err, err2) != nil {
		d.wrong(about, "waitroom doctor reports why.", "Redis does not answer.")
		return
	}
	if len(came) == 0 {
		d.warn(about, "Have it post to "+cmp.Or(d.PublicURL, d.LocalURL)+"/api/ROOM/sms/"+d.Only.Source+
			", and send an SMS to the number.", "Nothing came from %s within the last week.", d.Only.Source)
	}
	for _, a := range came {
		d.arrival(a)
	}
	for _, a := range astray {
		if name != "" && slices.Contains(misaddressed, a.Outcome) {
			d.arrival(a)
		}
	}
}

// opened opens Redis, or reports that it cannot be read. Then `instead` is what to do where the server has
// the store in itself.
func (d *doctor) opened(about, instead string) (s store.Store, names room.Names, ok bool) {
	if d.Redis.Embedded() {
		d.wrong(about, instead, "The store is embedded in the server, and only the server reads it.")
		return s, names, false
	}
	s, err := d.Redis.Open(slog.New(slog.DiscardHandler))
	if err != nil {
		d.wrong(about, "waitroom doctor reports why.", "Redis can not be opened.")
		return s, names, false
	}
	return s, room.NamesOf(s.Client, d.RedisPrefix), true
}

// misaddressed are the codes of what may have been meant for any source.
var misaddressed = []string{"unknown_room", "unknown_source", "not_found", "method_not_allowed", "wrong_host"}

// carrier stands for the carriers that sign as Standard Webhooks, unless a source is called so.
const carrier = "sms"

// known returns whether a room's source has the name, and reports another name.
func (d *doctor) known() bool {
	names := make(map[string]bool)
	of := d.sourcesOf()
	rooms := d.Rooms.Names()
	for _, id := range rooms {
		for name := range of(id) {
			names[name] = true
		}
	}
	if len(rooms) > 0 && !names[d.Only.Source] && d.Only.Source != carrier {
		d.warn("sources", "The names are: "+strings.Join(slices.Sorted(maps.Keys(names)), ", ")+".",
			"No room in WAITROOM_ROOMS has a source %s.", d.Only.Source)
	}
	return names[d.Only.Source]
}

// arrival reports one arrival. Lines keep the order of time.
func (d *doctor) arrival(a heard.Arrival) {
	text := time.UnixMilli(a.At).UTC().Format("2006-01-02 15:04:05Z ") + a.Outcome
	if a.Refused {
		text = strings.Replace(text, a.Outcome, "refused, "+a.Outcome, 1)
	}
	if a.Room != "" {
		text += " in " + string(a.Room)
	}
	if from := plain(a.From); from != "" {
		text += ", from " + from
	}
	if a.Times > 1 {
		text += fmt.Sprintf(", %d times", a.Times)
	}
	if a.Detail != "" {
		text += ": " + plain(a.Detail)
	}
	if a.Refused {
		d.warn("sources", "", "%s", text)
		return
	}
	d.fine("sources", "%s", text)
}

// longest is how many characters of a sender or of a reason are shown.
const longest = 300

// plain returns the beginning of a text without what a terminal would act on.
func plain(text string) string {
	runes := []rune(printable(text))
	return string(runes[:min(len(runes), longest)])
}

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}
