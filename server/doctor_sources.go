package server

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/roomsfile"
	"github.com/waitroom/waitroom/sms/source"
)

// sources looks at which phones and providers post by themselves, and when each was last heard. Of rooms
// that are allowed by a prefix it shows those that were heard.
func (d *doctor) sources(ctx context.Context) {
	last := d.lastHeard(ctx)
	of := d.sourcesOf()
	rooms := d.cfg.Rooms.Names()
	for field := range last {
		id, _, _ := strings.Cut(field, "/")
		if d.cfg.Rooms.Has(room.ID(id)) && !slices.Contains(rooms, room.ID(id)) {
			rooms = append(rooms, room.ID(id))
		}
	}
	twilio := false
	for _, id := range rooms {
		sources := of(id)
		for _, name := range slices.Sorted(maps.Keys(sources)) {
			twilio = twilio || sources[name].Kind == "twilio"
			d.source(id, name, sources[name], last)
		}
	}
	if twilio && d.cfg.PublicURL == "" {
		d.wrong("sources", "Set WAITROOM_PUBLIC_URL to what Twilio calls the server, without the path.",
			"Twilio signs the address that it calls, and the server is not told its own: "+
				"behind a proxy its messages are refused.")
	}
}

// source says where one source posts to, and when it last did.
func (d *doctor) source(id room.ID, name string, s source.Configured, last map[string]lastHeard) {
	const about = "sources"
	address := cmp.Or(d.cfg.PublicURL, d.cfg.LocalURL()) + "/api/" + string(id) + "/sms/" + name
	if s.Short() {
		d.doubtful(about, "Give it a secret of at least 16 characters, here and in the app.",
			"The secret of %s in %s can be guessed.", name, id)
	}
	l, heard := last[heardField(id, name)]
	switch {
	case heard && l.off != 0:
		d.doubtful(about, "Turn on automatic time on the phone, or NTP at the carrier (docs/matching.md).", "%s (%s): %s.", name, s.Kind, clockDetail(name, l.off))
	case heard:
		d.fine(about, "%s (%s) was last heard at %s, by %s.", name, s.Kind, l.at.UTC().Format(time.RFC3339), address)
	case last != nil:
		d.doubtful(about, "Have it post to "+address+", and send an SMS to the number.",
			"%s (%s) of %s was never heard.", name, s.Kind, id)
	default: // the store is embedded, or is away, which is spoken of already
		d.fine(about, "%s (%s) posts to %s.", name, s.Kind, address)
	}
}

// sourcesOf are a room's sources. A rooms file that is wrong is spoken of elsewhere.
func (d *doctor) sourcesOf() func(room.ID) map[string]source.Configured {
	all := func(room.ID) map[string]source.Configured { return d.cfg.SMSSources }
	if d.cfg.RoomsFile == "" {
		return all
	}
	file, err := roomsfile.Read(d.cfg.roomChecks())
	if err != nil {
		return all
	}
	return func(id room.ID) map[string]source.Configured { return file.Of(id).Sources }
}

// lastHeard is nil where the store can not be asked.
func (d *doctor) lastHeard(ctx context.Context) map[string]lastHeard {
	if d.cfg.Redis.Embedded() {
		return nil
	}
	s, err := d.cfg.Redis.open(slog.New(slog.DiscardHandler))
	if err != nil {
		return nil
	}
	defer s.close()
	ctx, cancel := context.WithTimeout(ctx, doctorWithin)
	defer cancel()
	last, err := readHeard(ctx, s.client, room.NamesOf(s.client, d.cfg.RedisPrefix))
	if err != nil {
		return nil
	}
	return last
}
