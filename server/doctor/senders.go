package doctor

import (
	"context"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/heard"
	"github.com/waitroom/waitroom/server/roomsfile"
)

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
