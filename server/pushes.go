package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/outbox"
	news "github.com/waitroom/waitroom/outbox/push"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/push"
)

// awayFresh is the maximum age of the news that a place is passed over. Later its seller may have come and
// gone again.
const awayFresh = 20 * time.Second

// least is the shortest rest of a turn that is worth a notification.
const least = time.Second

// openPushes makes the sender of browser notifications; nil if they are off.
func (s *Server) openPushes(ctx context.Context, registry prometheus.Registerer) {
	if !s.cfg.WebPush {
		return
	}
	s.pushes = push.New(push.Config{Redis: s.store.Client, Names: s.engine.Names(), Registerer: registry,
		Loopback: s.cfg.PushLoopback})
	// the store may refuse writes now; the next page tries again
	if _, err := s.pushes.PublicKey(ctx); err != nil {
		s.log.WarnContext(ctx, "there is no key for pushes yet", "error", err)
	}
}

// subscriptions adapts the pushes to the ledger.
type subscriptions struct {
	*push.Pushes
	server *Server
}

// Pushed makes this replica's outbox start at once.
func (s subscriptions) Pushed() {
	if s.server.outbox != nil {
		s.server.outbox.Wake(news.Kind)
		s.server.outbox.Wake(news.AwayKind)
	}
}

// notifyBrowser notifies a browser of news that still holds.
func (s *Server) notifyBrowser(ctx context.Context, n news.News) error {
	id := room.ID(n.Room)
	view, _, err := s.engine.Look(ctx, id)
	if err != nil {
		return later(err)
	}
	message, left := s.newsMessage(id, n, view)
	if left < least {
		s.pushes.Late()
		return nil
	}
	err = s.pushes.Send(ctx, push.To{Room: id, Ticket: n.Ticket, Browser: n.Browser}, left, message)
	if errors.Is(err, push.ErrGone) || errors.Is(err, push.ErrRefused) {
		s.log.DebugContext(ctx, "a seller's browser is not notified", "room", n.Room, "ticket", n.Ticket, "error",
			err)
		return nil
	}
	if err != nil {
		return later(err)
	}
	return nil
}

// later marks an error after which the outbox tries again without a warning: a server without internet access
// continues silently, and only metrics show it.
func later(err error) error { return fmt.Errorf("%w: %w", outbox.ErrNotReady, err) }

// holds reports whether a place holds the lock.
func holds(view room.View, ticket int64) bool {
	return view.Lease != nil && view.Lease.Ticket == ticket
}

// newsMessage returns the message about a piece of news, by language, and for how long the news still holds.
func (s *Server) newsMessage(id room.ID, n news.News, view room.View) (message func(lang string) push.Message,
	left time.Duration) {
	until, claim := int64(0), false
	switch {
	case n.What == news.Away && view.Now-n.At < awayFresh.Milliseconds() && !holds(view, n.Ticket):
		until = n.At + s.cfg.DropAfter.Milliseconds()
	case n.What == news.Turn && view.Lease != nil && view.Lease.Fence == n.Fence:
		until, claim = view.Lease.ExpiresAt, view.Lease.ClaimBy != 0
		if claim {
			until = min(until, view.Lease.ClaimBy)
		}
	}
	message = func(lang string) push.Message {
		words, plain := templates.PushWords(lang, n.What == news.Turn, claim, s.roomInfo(id, lang).Name, string(id))
		return push.Message{Title: words.Title, Body: words.Lead, Plain: plain, Until: until, Now: view.Now,
			Room: string(id), Lang: lang, Tag: push.Tag(id), Paths: s.cfg.Rooms.Paths(id)}
	}
	return message, time.Duration(until-view.Now) * time.Millisecond
}
