package web

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/quota"
	"github.com/waitroom/waitroom/web/request"
)

// The settings of the limits that are enforced outside quota.
const (
	roomLimit    = "ROOM_LIMIT"
	socketsPerIP = "SOCKETS_PER_IP"
)

// admitted joins a session if the limits allow it. A session that already has a place gets it back, from any
// address and beyond the address's limit.
func (h *lockAPI) admitted(ctx context.Context, c *gin.Context, session string, known bool,
	join func() (room.Standing, error)) (room.Standing, error) {
	admission, err := h.Quota.Admit(ctx, request.Network(h.proxies.Client(c)), request.Room(c), session)
	if limit, ok := errors.AsType[quota.Limited](err); ok {
		if known && limit.New {
			return h.heldPlace(ctx, c, session, limit)
		}
		return room.Standing{}, h.refusedFor(c, limit)
	}
	standing, err := join()
	switch {
	case err == nil:
		admission.Joined(ctx, standing.Ticket)
	case room.Refused(err):
		admission.Refused(ctx)
	}
	if errors.Is(err, room.ErrRoomFull) {
		h.limited.note(roomLimit, h.proxies.Client(c))
	}
	return standing, err
}

// addressMark returns the digest of the client's address that a new place keeps.
func (h *lockAPI) addressMark(c *gin.Context) string {
	if h.AddressMark == nil {
		return ""
	}
	return h.AddressMark(request.Network(h.proxies.Client(c)), request.Room(c))
}

// heldPlace returns a session's live place, or a refusal without one.
func (h *lockAPI) heldPlace(ctx context.Context, c *gin.Context, session string,
	refused quota.Limited) (room.Standing, error) {
	view, seats, err := h.Engine.Look(ctx, request.Room(c), session)
	switch {
	case err != nil:
		return room.Standing{}, err
	case !seats[0].Live():
		return room.Standing{}, h.refusedFor(c, refused)
	}
	return room.Standing{View: view, Place: seats[0].Place, LeaseLength: h.lease(request.Room(c))}, nil
}

// refusedFor counts a refusal by a limit.
func (h *lockAPI) refusedFor(c *gin.Context, limit quota.Limited) quota.Limited {
	h.limited.note(limit.Setting, h.proxies.Client(c))
	return limit
}

// noteEvery is the interval between log lines about one limit.
const noteEvery = time.Minute

// refusals logs refusals by limits: the first of each at once, then one line a minute.
type refusals struct {
	log   *slog.Logger
	count *prometheus.CounterVec

	mu     sync.Mutex
	limits map[string]*noted
}

// noted counts a limit's refusals since its last line.
type noted struct {
	at      time.Time
	refused int
}

func newRefusals(log *slog.Logger, r prometheus.Registerer) *refusals {
	n := &refusals{log: log, limits: make(map[string]*noted),
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_limited_total", Help: "Requests refused for a limit, by its setting."},
			[]string{"setting"})}
	for _, setting := range []string{quota.RateLimit, quota.PlacesPerIP, quota.Rooms, roomLimit, socketsPerIP} {
		n.count.WithLabelValues(setting) // a rate needs a zero to begin with
	}
	if r != nil {
		r.MustRegister(n.count)
	}
	return n
}

func (n *refusals) note(setting string, client netip.Addr) {
	n.count.WithLabelValues(setting).Inc()
	n.mu.Lock()
	defer n.mu.Unlock()
	limit := n.limits[setting]
	if limit == nil {
		limit = &noted{}
		n.limits[setting] = limit
	}
	limit.refused++
	if time.Since(limit.at) < noteEvery {
		return
	}
	n.log.Warn("refused for a limit", "setting", "WAITROOM_"+setting, "count", limit.refused, "client",
		client.String())
	limit.at, limit.refused = time.Now(), 0
}
