package room

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Refusals of a rule. A refused call changes nothing but what time alone changes. Callers compare with
// errors.Is.
var (
	ErrInvalidRoom    = errors.New("room id is not valid")
	ErrInvalidSeller  = errors.New("seller id is not valid")
	ErrInvalidSession = errors.New("session id is not a UUID")

	ErrNoPlace        = errors.New("session has no place in this room")
	ErrStaleFence     = errors.New("fence is not the current lease's")
	ErrStaleTicket    = errors.New("ticket is not waiting")
	ErrLockHeld       = errors.New("lock is held")
	ErrPaused         = errors.New("room is paused")
	ErrRoomFull       = errors.New("as many wait as may wait in this room")
	ErrRoomClosed     = errors.New("room takes no new places now")
	ErrSellerHasPlace = errors.New("seller has a place under another session")
	ErrLeaseTooLong   = errors.New("lease would be longer than ten minutes in all")
	ErrInvalidExpect  = errors.New("what is expected is not valid")
	ErrNumberBusy     = errors.New("a code that another lease asked for may still come")
	ErrTooManyAsks    = errors.New("lease has asked too often")
	ErrNoMessage      = errors.New("there is no such message for this session")
	ErrAlreadyMatched = errors.New("message belongs to a lease already")
	ErrNotPossible    = errors.New("lease could not have caused the message")
	ErrKeyReused      = errors.New("idempotency key was used for another request")
	ErrTooManyRejects = errors.New("lease has rejected too many messages")
)

// ErrIDUsedAgain is the ledger's refusal of a message id that another message had over a day ago. Some phones
// count from 1 again.
var ErrIDUsedAgain = errors.New("message id was another message's, over a day ago")

// ErrStore wraps every failure to reach Redis or to understand its answer.
//
// The caller does not know whether the call took effect. It may retry with the same request id (rule 9 of
// docs/contract.md).
var ErrStore = errors.New("store unavailable")

// NoWrites reports whether Redis refused a write although it answers reads.
//
// Redis does so if its memory is full, it has too few replicas, or it cannot save to its disk. NoWrites is
// false for a write that a replica of Redis refused, since a replica's data may be old.
func NoWrites(err error) bool {
	refused, ok := errors.AsType[redis.Error](err)
	if !ok {
		return false
	}
	for _, why := range []string{"OOM ", "NOREPLICAS ", "MISCONF "} {
		text := refused.Error()
		// Redis 6 puts the refusal into the error of the script
		if strings.HasPrefix(text, why) || strings.Contains(text, "-"+why) {
			return true
		}
	}
	return false
}

// refusals maps the codes of the Lua library to errors.
var refusals = map[string]error{
	"no_place":         ErrNoPlace,
	"stale_fence":      ErrStaleFence,
	"stale_ticket":     ErrStaleTicket,
	"lock_held":        ErrLockHeld,
	"room_paused":      ErrPaused,
	"room_full":        ErrRoomFull,
	"room_closed":      ErrRoomClosed,
	"seller_has_place": ErrSellerHasPlace,
	"lease_too_long":   ErrLeaseTooLong,
	"number_busy":      ErrNumberBusy,
	"too_many_asks":    ErrTooManyAsks,
	"no_message":       ErrNoMessage,
	"already_matched":  ErrAlreadyMatched,
	"not_possible":     ErrNotPossible,
	"too_many_rejects": ErrTooManyRejects,
}
