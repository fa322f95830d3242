package hub

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/waitroom/waitroom/room"
)

// Desk is where a hub asks what support is shown beside the line. The answers are lists of JSON objects that the hub passes on
// without reading more of them than their keys; of what it has passed on it sends again only what changed.
type Desk interface {
	// Items are the messages and incidents that a person may have to look at, the latest first.
	Items(ctx context.Context, id room.ID) ([]Item, error)
	// Sources are the phones and providers that the room takes messages from.
	Sources(ctx context.Context, id room.ID) ([]Item, error)
	// Pauses are who paused the room and why; at most one, none where that is not known. It is asked while the room is paused.
	Pauses(ctx context.Context, id room.ID) ([]Item, error)
	// Minutes are the last hour by the minute, or what of it may have changed since an instant (unix ms).
	Minutes(ctx context.Context, id room.ID, since int64) ([]Item, error)
}

// Item is a JSON object that support is shown, and what it is known by.
type Item struct {
	Key  string
	JSON json.RawMessage
}

// Watcher is a member of support that watches.
type Watcher struct {
	Key   string                              // what its sign-in is known by: SignOut closes all sockets of it
	Until time.Time                           // its sign-in ends
	Valid func(context.Context) (bool, error) // whether it is still signed in; asked every Config.Recheck. An error is no verdict

	Program bool // it has sent a token, which no page can have a browser send: any Origin will do
}

// ServeDesk turns a request into a socket of support: of one room, or with "" of all. Errors as ServeSocket's; other origins than
// the server's own are refused whichever Config.Origins trusts, unless it is a program.
func (h *Hub) ServeDesk(w http.ResponseWriter, r *http.Request, id room.ID, who Watcher) error {
	c := &conn{h: h, desk: &desk{who: who, next: unopened}}
	allowed := h.cfg.Origins.Own
	if who.Program {
		allowed = nil
	}
	if ok, err := h.accept(w, r, allowed, c); !ok {
		return err
	}
	c.SetWriteBuffer(deskBuffers * h.cfg.WriteBuffer)
	h.desks.add(c)
	h.replicas.follow()
	if id == "" {
		h.overview.watch(c)
	} else {
		for !h.open(id).watch(c) {
		}
	}
	h.run(c)
	// Its sign-in was checked before it was among those that hear of a sign-out.
	h.spawn(func(ctx context.Context) { checkEach(ctx, []*conn{c}) })
	return nil
}

// deskBuffers is how much larger than a seller's the write buffer of a socket of support is: its frames are.
const deskBuffers = 8

// deskLeft takes a socket of support out of everything that only support has.
func (c *conn) deskLeft() {
	c.desk.source.leave(c)
	c.h.desks.remove(c)
	c.h.replicas.follow()
}
