package support

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// action is an action of support in a room: the fields it reads beside the reason, and its effect.
type action struct {
	takes []take
	do    func(ctx context.Context, d *Desk, q asked) (doneAnswer, error)
}

// actions has each action of support by its name in the path of the API.
var actions = map[string]action{
	"release": {[]take{takeFence}, func(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
		return done(d.Engine.Release(ctx, q.room, q.request, q.fence, q.by))
	}},
	"extend": {[]take{takeFence, takeSeconds},
		func(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
			return done(d.Engine.Extend(ctx, q.room, q.request, q.fence, q.more, q.by))
		}},
	"remove": {[]take{takeTickets}, remove},
	"move": {[]take{takeTicket, takePosition},
		func(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
			return done(d.Engine.Move(ctx, q.room, q.request, q.ticket, q.position, q.by))
		}},
	"restore": {[]take{takeTicket}, func(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
		st, err := d.Engine.Restore(ctx, q.room, q.request, q.ticket, q.by)
		answer, err := done(st, err)
		answer.Ticket = given(st.Ticket)
		return answer, err
	}},
	"pause": {nil, func(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
		return done(d.Engine.Pause(ctx, q.room, q.request, true, q.by))
	}},
	"resume": {nil, func(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
		return done(d.Engine.Pause(ctx, q.room, q.request, false, q.by))
	}},
	"assign":   {[]take{takeFence, takeMessage}, assign},
	"announce": {[]take{takeText}, announce},
	"open":     {[]take{takeUntil}, open},
	"close":    {[]take{takeUntil}, closeRoom},
}

// doneAnswer is the answer to an action. Ticket and fence are those of the place or lease that it concerned.
type doneAnswer struct {
	Status  string         `json:"status"`
	Action  string         `json:"action"`
	Room    room.ID        `json:"room"`
	Ticket  *int64         `json:"ticket"`
	Fence   *int64         `json:"fence"`
	Epoch   int64          `json:"epoch"`
	Version history.Number `json:"version"`
	Result  room.Result    `json:"result,omitempty"`  // of an assigned message
	Shown   *bool          `json:"shown,omitempty"`   // whether its new seller sees it
	Removed *int           `json:"removed,omitempty"` // of several waiters: those that were still in line
}

func done(st room.Standing, err error) (doneAnswer, error) {
	return doneAnswer{Epoch: st.Epoch, Version: history.Number(st.Version)}, err
}

// remove removes a waiter, or several of which some may have left: each is an action of its own in the audit.
func remove(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
	if q.ticket != 0 {
		return done(d.Engine.Remove(ctx, q.room, q.request, q.ticket, q.by))
	}
	var last room.Standing
	removed := 0
	for _, ticket := range q.tickets {
		st, err := d.Engine.Remove(ctx, q.room, fmt.Sprint(q.request, ":", ticket), ticket, q.by)
		switch {
		case errors.Is(err, room.ErrStaleTicket):
		case err != nil:
			return doneAnswer{}, err
		default:
			last, removed = st, removed+1
		}
	}
	if removed == 0 {
		return doneAnswer{}, room.ErrStaleTicket
	}
	answer, err := done(last, nil)
	answer.Removed = &removed
	return answer, err
}

func assign(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
	if d.Assign == nil {
		return doneAnswer{}, room.ErrNoMessage
	}
	m, err := d.Assign.Assign(ctx, q.room, room.AssignRequest{MessageID: q.messageID, Fence: q.fence,
		Request: q.request, By: q.by})
	return doneAnswer{Ticket: given(m.Ticket), Epoch: m.Epoch, Version: history.Number(m.Version),
		Result: m.Result, Shown: new(!m.Forgotten)}, err
}

func announce(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
	if len(q.texts) == 0 {
		q.by.Action = "withdrew"
		return done(d.Engine.Announce(ctx, q.room, q.request, nil, time.Time{}, q.by))
	}
	a := &room.Announcement{Texts: q.texts, Level: q.level}
	q.by.Text, q.by.Until = a.String(), q.until.UnixMilli()
	return done(d.Engine.Announce(ctx, q.room, q.request, a, q.until, q.by))
}

// open opens a room until a time, else until its hours begin next. Without a time it only takes back, within
// its hours, that support closed it.
func open(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
	if begin, outside := d.Hours(q.room, time.Now()); q.until.IsZero() && outside {
		q.until = begin
	}
	if !q.until.IsZero() {
		q.by.Until = q.until.UnixMilli()
	}
	return done(d.Engine.Open(ctx, q.room, q.request, q.until, time.Time{}, q.by))
}

// closeRoom closes a room until a time, else until its hours begin next. Outside its hours it takes back that
// support opened it.
func closeRoom(ctx context.Context, d *Desk, q asked) (doneAnswer, error) {
	begin, outside := d.Hours(q.room, time.Now())
	if q.until.IsZero() {
		q.until = begin
		if outside {
			return done(d.Engine.Open(ctx, q.room, q.request, time.Time{}, time.Time{}, q.by))
		}
	}
	if q.until.IsZero() { // it is always open
		return doneAnswer{}, problem.Refusal("invalid_until")
	}
	q.by.Until = q.until.UnixMilli()
	return done(d.Engine.Open(ctx, q.room, q.request, time.Time{}, q.until, q.by))
}

// act is POST /api/support/{room}/{action}.
func (d *Desk) act(name string, a action) gin.HandlerFunc {
	return func(c *gin.Context) {
		q, err := readAction(c, a.takes)
		if err != nil {
			d.Fail(c, err)
			return
		}
		q.room, q.by = request.Room(c), d.by(c, name, q.reason)
		if q.request, err = requestOf(c, q); err != nil {
			d.Fail(c, err)
			return
		}
		ctx, cancel := d.Asking(c)
		defer cancel()
		answer, err := a.do(ctx, d, q)
		if err != nil {
			d.Fail(c, err)
			return
		}
		answer.Status, answer.Action, answer.Room, answer.Fence = "done", name, q.room, given(q.fence)
		if q.ticket != 0 && answer.Ticket == nil {
			answer.Ticket = given(q.ticket)
		}
		d.JSON(c, http.StatusOK, answer)
	}
}

// requestOf returns the engine's id of a request. With an Idempotency-Key, it is the same whenever the same
// agent repeats the same action.
func requestOf(c *gin.Context, q asked) (string, error) {
	key := c.GetHeader(request.KeyHeader)
	if key == "" {
		return uuid.NewString(), nil
	}
	if utf8.RuneCountInString(key) > request.MaxKey {
		return "", problem.Refusal("invalid_key")
	}
	q.reason, q.by.Reason = "", "" // the same action in other words
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %+v", key, q))
	return "support:" + hex.EncodeToString(sum[:16]), nil
}

// given returns a pointer to a number; nil for 0.
func given[T ~int64](n T) *T {
	if n == 0 {
		return nil
	}
	return &n
}
