package room

import (
	"context"
	"errors"
	"time"
)

var joinVerb = newVerb[joinArgs]("join")

type joinArgs struct {
	Session   string        // thin.lua knows this one and OwnLease by their positions
	OwnLease  time.Duration // this place's lease; 0 = the room's
	Seller    string        // "" = none
	MayWait   bool
	Channel   string        // Pub/Sub channel for the grant of a waiter; "" = none
	Vouch     time.Duration // the waiter is away after this unless vouched for again; 0 = never
	Asks      bool          // the session announces asks (see expect.lua)
	Ticket    int64         // refused unless the place has this ticket; 0 = any
	RoomLimit int           // most waiters; 0 = any number
	Address   string        // digest of the client's address; "" = not known
	Closed    bool
}

// errRegister reports that a room's index entry was too old when the script ran.
var errRegister = errors.New("index entry too old")

// unknownRoom reports that Redis does not have the room. It wraps errRegister.
type unknownRoom struct{ token string } // absence token: see existence.lua

func (*unknownRoom) Error() string { return "room not known" }
func (*unknownRoom) Unwrap() error { return errRegister }

// JoinRequest asks for the lock: a press of 준비 완료 ("ready").
type JoinRequest struct {
	Request string // id of this request: a repeat returns the first reply; "" = a new request
	Session string // from ParseSession or NewSession
	// Fresh: the session joins only once, so a repeat is recognised by the session and no reply is kept.
	Fresh   bool
	Seller  string        // from ParseSeller; "" = none: only the session is limited to one place
	NoWait  bool          // refused if the session would have to wait
	Lease   time.Duration // this place's lease; 0 = the room's
	Channel string        // another Pub/Sub channel for the grant of a waiter, beside the room's; "" = none
	Asks    bool          // the session calls Expect when it asks for a code
	Ticket  int64         // refused unless the session's live place has this ticket; 0 = any, or a new place
	Vouch   time.Duration // the waiter is away after this, unless Seen vouches for it again; 0 = never
	Address string        // digest of the client's address, for Roster; hexadecimal; "" = not known
}

// Join gives the session the lock or a place in line, and returns its standing.
//
// A session that has a place keeps it (rule 4 of docs/contract.md): a holder claims its lease, and an
// unclaimed waiter is back in line. Errors: ErrSellerHasPlace with OtherTicket, ErrRoomClosed, ErrRoomFull,
// ErrLockHeld and ErrPaused (with NoWait only), ErrNoPlace (with Ticket only), ErrStore.
func (e *Engine) Join(ctx context.Context, id ID, q JoinRequest) (Standing, error) {
	once := ""
	if !q.Fresh {
		once = requestKey(q.Request)
	}
	var st Standing
	err := e.index.listed(ctx, id, func(l listing) (err error) {
		args := joinArgs{q.Session, e.joinLease(q), q.Seller, !q.NoWait, q.Channel, q.Vouch, q.Asks, q.Ticket,
			e.cfg.Waiters, q.Address, e.hoursBegin(id, time.Now().UnixMilli()) != 0}
		c := joinVerb.with(args).keptIn(once).begins(l)
		if e.thinJoin(q) {
			c.verb = "lock"
		}
		st, err = e.standing(ctx, c, id)
		return err
	})
	e.stood(id, q.Session, st)
	return st, err
}
