package room

import (
	"context"
	"errors"
	"time"
)

var joinScript = script("join")

// errRegister says that a room's index entry was too old when the script ran.
var errRegister = errors.New("index entry too old")

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
	Vouch   time.Duration // the waiter counts as seen until then, as by Seen; 0 = never away unless Seen says so
}

// Join gives the session the lock or a place in line. A session that has a place is told that place.
// Refusals: ErrSellerHasPlace, ErrRoomFull, ErrLockHeld and ErrPaused (both with NoWait only).
func (e *Engine) Join(ctx context.Context, id ID, q JoinRequest) (Standing, error) {
	once := unremembered
	if !q.Fresh {
		once = requestKey(q.Request)
	}
	var st Standing
	err := e.index.listed(ctx, id, func(registered int64, fresh string) (err error) {
		st, err = e.standing(ctx, joinScript, id, once, q.Session, q.Seller, flag(!q.NoWait),
			q.Lease.Milliseconds(), q.Channel, registered, q.Vouch.Milliseconds(), fresh, flag(q.Asks), e.cfg.Waiters)
		return err
	})
	e.stood(id, q.Session, st)
	return st, err
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
