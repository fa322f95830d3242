package room

import (
	"context"
	"errors"
	"time"
)

var joinVerb = newVerb[joinArgs]("join")

type joinArgs struct {
	Session    string
	Seller     string // "" = nobody's
	MayWait    bool
	OwnLease   time.Duration // this place's lease; 0 = the room's
	Channel    string        // to tell when a waiter is granted; "" = none
	Vouch      time.Duration // a waiter is away when nobody vouches for it again by then; 0 = never
	Asks       bool          // it says before it asks for a code (see expect.lua)
	Ticket     int64         // this place or none; 0 = any
	RoomLimit  int           // how many may wait; 0 = any number
	Registered int64
	Begins     string // the blank that a room may be begun in place of; "" = none
}

// errRegister says that a room's index entry was too old when the script ran.
var errRegister = errors.New("index entry too old")

// unknownRoom says that the store knows nothing of the room either. It is an errRegister.
type unknownRoom struct{ token string } // what the store has in its place: see existence.lua

func (*unknownRoom) Error() string { return "room not known" }
func (*unknownRoom) Unwrap() error { return errRegister }

// JoinRequest is 준비 완료.
type JoinRequest struct {
	Request string        // id of this request: a repeat is told the same; "" = a new one
	Session string        // from ParseSession or NewSession
	Fresh   bool          // the session joins this once only and so tells a repeat by itself: nothing need be remembered
	Seller  string        // from ParseSeller; "" = nobody's: then it is the session alone that has one place
	NoWait  bool          // refuse instead of queueing
	Lease   time.Duration // this place's lease; 0 = the room's
	Channel string        // Pub/Sub channel told when the waiter is granted, besides the room's; "" = none
	Asks    bool          // it says by Expect before it asks for a code
	Ticket  int64         // refuse unless the session has the place of this ticket still; 0 = it may be a new one
	Vouch   time.Duration // the waiter counts as seen until then, as by Seen; 0 = never away unless Seen says so
}

// Join gives the session the lock or a place in line. A session that has a place is told that place, and is there: it claims its lease, or is back in line.
// Refusals: ErrSellerHasPlace, ErrRoomFull, ErrLockHeld and ErrPaused (both with NoWait only), ErrNoPlace (with Ticket only).
func (e *Engine) Join(ctx context.Context, id ID, q JoinRequest) (Standing, error) {
	once := unremembered
	if !q.Fresh {
		once = requestKey(q.Request)
	}
	var st Standing
	err := e.index.listed(ctx, id, func(l listing) (err error) {
		st, err = e.standing(ctx, joinVerb.with(joinArgs{q.Session, q.Seller, !q.NoWait, q.Lease, q.Channel, q.Vouch, q.Asks, q.Ticket, e.cfg.Waiters, l.at, l.absence}), id, once)
		return err
	})
	e.stood(id, q.Session, st)
	return st, err
}
