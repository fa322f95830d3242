package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/links"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/problem"
)

// sockets maps the hub's errors to the problem table.
type sockets struct{ *hub.Hub }

func (s sockets) ServeSocket(w http.ResponseWriter, r *http.Request, id room.ID, session, lang string) error {
	return refusal(w, s.Hub.ServeSocket(w, r, id, session, lang))
}

func (s sockets) ForbidSocket(w http.ResponseWriter, r *http.Request) error {
	return refusal(w, s.Hub.ForbidSocket(w, r))
}

// refusal returns the problem of a hub's error.
func refusal(w http.ResponseWriter, err error) error {
	switch {
	case errors.Is(err, hub.ErrOrigin):
		return problem.Refusal("cross_site")
	case errors.Is(err, hub.ErrNotUpgrade):
		w.Header().Set("Upgrade", "websocket")
		return problem.Refusal("upgrade_required")
	case errors.Is(err, hub.ErrDraining):
		return problem.Refusal("draining")
	}
	return err
}

// standsFor returns the hub's lookup of links. It returns nil if sellers are proven: all sessions of a
// seller then share its place without links.
func (s *Server) standsFor() func(context.Context, room.ID, []string) ([]links.Link, error) {
	if s.cfg.SellerAuth == byToken {
		return nil
	}
	return s.linked
}

// linked returns the places that sessions joined by links, if those places are still the same.
func (s *Server) linked(ctx context.Context, id room.ID, sessions []string) ([]links.Link, error) {
	places, err := s.links.Standings(ctx, id, sessions)
	if err != nil {
		return nil, err
	}
	list := make([]links.Link, len(sessions))
	var indexes []int
	var owners []string
	for i, p := range places {
		if p.Session != "" {
			indexes, owners = append(indexes, i), append(owners, p.Session)
		}
	}
	if len(owners) == 0 {
		return list, nil
	}
	_, seats, err := s.engine.Look(ctx, id, owners...)
	if err != nil {
		return nil, err
	}
	for n, i := range indexes {
		if p, seat := places[i], seats[n]; p.Is(seat) {
			list[i] = links.Link{Session: p.Session, Ticket: p.Ticket, Fence: seat.Fence}
		}
	}
	return list, nil
}

var errStale = errors.New("no sign of life from the subscription")

// subscribed is the readiness check of the hub's subscription.
func (s *Server) subscribed(context.Context) error {
	if !s.hub.Fresh() {
		return errStale
	}
	return nil
}
