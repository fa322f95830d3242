package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web"
)

// sockets puts the hub's refusals into the words of the problem table.
type sockets struct{ *hub.Hub }

func (s sockets) ServeSocket(w http.ResponseWriter, r *http.Request, id room.ID, session string) error {
	return refusal(w, s.Hub.ServeSocket(w, r, id, session))
}

// ServeLinked serves a browser that stands for another session's place.
func (s sockets) ServeLinked(w http.ResponseWriter, r *http.Request, id room.ID, as web.Linked) error {
	return refusal(w, s.Hub.ServeLinked(w, r, id, hub.Link(as)))
}

// refusal is the problem that the hub's error is.
func refusal(w http.ResponseWriter, err error) error {
	switch {
	case errors.Is(err, hub.ErrOrigin):
		return web.Refusal("cross_site")
	case errors.Is(err, hub.ErrNotUpgrade):
		w.Header().Set("Upgrade", "websocket")
		return web.Refusal("upgrade_required")
	case errors.Is(err, hub.ErrDraining):
		return web.Refusal("draining")
	}
	return err
}

var errStale = errors.New("no sign of life from the subscription")

// subscribed is the readiness check of the hub's subscription.
func (s *Server) subscribed(context.Context) error {
	if !s.hub.Fresh() {
		return errStale
	}
	return nil
}
