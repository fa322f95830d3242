package server

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web"
)

// live is what the server needs of the hub.
type live interface {
	Run(context.Context) error
	ServeSocket(http.ResponseWriter, *http.Request, room.ID, string) error
	Fresh() bool
	Drain(context.Context) error
}

func newLive(*Server, *prometheus.Registry) live { return none{} }

// none serves no sockets.
type none struct{}

func (none) Run(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (none) ServeSocket(http.ResponseWriter, *http.Request, room.ID, string) error {
	return web.Refusal("not_found")
}

func (none) Fresh() bool { return true }

func (none) Drain(context.Context) error { return nil }

// sockets puts the hub's refusals into the words of the problem table.
type sockets struct{ live }
