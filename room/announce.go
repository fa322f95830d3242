package room

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/room/wire"
)

var (
	announceVerb = newVerb[announceArgs]("announce")
	openVerb     = newVerb[openArgs]("open")
)

type announceArgs struct {
	Notice      string
	NoticeUntil int64
	Action      string // JSON members; "" = support has not acted
}

type openArgs struct {
	OpenUntil   int64
	ClosedUntil int64
	Action      string // JSON members; "" = support has not acted
}

// Records of what support sets for a whole room; see room/wire.
type (
	Announcement = wire.Announcement
	BySupport    = wire.BySupport
)

// Announce shows an announcement on every page of a room until a time, in the place of the one before; nil
// takes that back. The room is kept until then, also unused. Error: ErrStore.
func (e *Engine) Announce(ctx context.Context, id ID, request string, a *Announcement, until time.Time,
	by Action) (Standing, error) {
	args := announceArgs{Action: by.reasons()}
	if a != nil {
		args.Notice, args.NoticeUntil = a.Encode(), until.UnixMilli()
	}
	return e.listed(ctx, id, announceVerb.with(args).keptIn(requestKey(request)))
}

// Open opens a room outside its hours until a time, or closes it whatever they are; zero times let the hours
// decide again. The room is kept until then, also unused. Error: ErrStore.
func (e *Engine) Open(ctx context.Context, id ID, request string, open, closed time.Time,
	by Action) (Standing, error) {
	args := openArgs{OpenUntil: unixMilli(open), ClosedUntil: unixMilli(closed), Action: by.reasons()}
	return e.listed(ctx, id, openVerb.with(args).keptIn(requestKey(request)))
}

// listed runs a verb that needs its room in the index, and returns the standing of its reply.
func (e *Engine) listed(ctx context.Context, id ID, c call) (st Standing, err error) {
	err = e.index.listed(ctx, id, func(l listing) (err error) {
		st, err = e.standing(ctx, c.begins(l), id)
		return err
	})
	return st, err
}

// unixMilli returns a time in unix ms; 0 for the zero time.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
