package doctor

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/heard"
	"github.com/waitroom/waitroom/server/roomsfile"
	"github.com/waitroom/waitroom/sms/source"
)

// sources reports the phones and providers with formats of their own, and when each was last heard. Of rooms
// allowed by a prefix, it reports only those that were heard.
func (d *doctor) sources(ctx context.Context) {
	last := d.lastHeard(ctx)
	of := d.sourcesOf()
	rooms := d.Rooms.Names()
	for field := range last {
		id, _, _ := strings.Cut(field, "/")
		if d.Rooms.Has(room.ID(id)) && !slices.Contains(rooms, room.ID(id)) {
			rooms = append(rooms, room.ID(id))
		}
	}
	for _, id := range rooms {
		sources := of(id)
		for _, name := range slices.Sorted(maps.Keys(sources)) {
			d.source(id, name, sources[name], last)
			d.addressed(id, name, sources[name])
		}
	}
}

// addressed reports a source whose signature covers the URL that it calls, while the server does not know its
// own (PUBLIC_URL).
func (d *doctor) addressed(id room.ID, name string, s source.Configured) {
	if d.PublicURL != "" {
		return
	}
	const do = "Set WAITROOM_PUBLIC_URL to what the provider calls the server, without the path."
	switch yes, maybe := s.Addressed(); {
	case yes:
		d.wrong("sources", do, "%s (%s) of %s signs the address that it calls, and the server does not know its "+
			"own: behind a proxy its messages are refused.", name, s.Kind, id)
	case maybe:
		d.warn("sources", do, "The tokens of %s of %s may cover the address that it calls, and the server does "+
			"not know its own.", name, id)
	}
}

// source reports where one source posts to, and when it last did.
func (d *doctor) source(id room.ID, name string, s source.Configured, last map[string]heard.Last) {
	const about = "sources"
	address := cmp.Or(d.PublicURL, d.LocalURL) + "/api/" + string(id) + "/sms/" + name
	if s.Short() {
		d.warn(about, "Give it a secret of at least 16 characters, here and in the app.",
			"The secret of %s in %s can be guessed.", name, id)
	}
	l, known := last[heard.Field(id, name)]
	switch {
	case known && l.Off != 0:
		d.warn(about, "Turn on automatic time on the phone, or NTP at the carrier (docs/matching.md).",
			"%s (%s): %s.", name, s.Kind, heard.ClockDetail(name, l.Off))
	case known:
		d.fine(about, "%s (%s) was last heard at %s, by %s.", name, s.Kind, l.At.UTC().Format(time.RFC3339),
			address)
	case last != nil:
		d.warn(about, "Have it post to "+address+", and send an SMS to the number.",
			"%s (%s) of %s was never heard.", name, s.Kind, id)
	default: // the store is embedded, or is away, which redis reports
		d.fine(about, "%s (%s) posts to %s.", name, s.Kind, address)
	}
}

// sourcesOf returns a function that returns a room's sources. Function rooms reports an invalid rooms file.
func (d *doctor) sourcesOf() func(room.ID) map[string]source.Configured {
	all := func(room.ID) map[string]source.Configured { return d.SMSSources }
	if d.RoomsFile.Path == "" {
		return all
	}
	file, err := roomsfile.Read(d.RoomsFile)
	if err != nil {
		return all
	}
	return func(id room.ID) map[string]source.Configured { return file.Of(id).Sources }
}

// lastHeard returns when each source was last heard, by heard.Field; nil if the store is embedded or does not
// answer.
func (d *doctor) lastHeard(ctx context.Context) map[string]heard.Last {
	if d.Redis.Embedded() {
		return nil
	}
	s, err := d.Redis.Open(slog.New(slog.DiscardHandler))
	if err != nil {
		return nil
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	last, err := heard.Read(ctx, s.Client, room.NamesOf(s.Client, d.RedisPrefix))
	if err != nil {
		return nil
	}
	return last
}

// mostWarned bounds the rooms that are named one by one.
const mostWarned = 20

// senders warns of rooms that take texts of every sender, with the senders of their codes of late. Function
// rooms reports an invalid rooms file, and function redis a store that does not answer.
func (d *doctor) senders(ctx context.Context) {
	entry, named := func(room.ID) *roomsfile.Entry { return &d.RoomsFile.Rest }, d.Rooms.Entries()
	if d.RoomsFile.Path != "" {
		file, err := roomsfile.Read(d.RoomsFile)
		if err != nil {
			return
		}
		entry = file.Of
		file.Each(func(name string, _ *roomsfile.Entry) { named = append(named, name) })
	}
	var client redis.UniversalClient
	if !d.Redis.Embedded() {
		s, err := d.Redis.Open(slog.New(slog.DiscardHandler))
		if err != nil {
			return
		}
		defer s.Close()
		client = s.Client
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	list, err := heard.Warnings(ctx, client, room.NamesOf(client, d.RedisPrefix), named,
		func(id room.ID) bool { return entry(id).OpenToAll(d.SMSWebhookSecret != "") })
	if err != nil {
		return
	}
	for i, w := range list {
		if i == mostWarned {
			d.warn("senders", "Give a prefix of names the list, such as shop:* in the rooms file.",
				"So do %d more rooms.", len(list)-i)
			return
		}
		d.warn("senders", w.Remedy(), "%s.", w.Risk())
	}
}
