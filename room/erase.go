package room

import (
	"context"
	"slices"
	"strings"
)

var (
	eraseVerb        = newVerb[eraseArgs]("erase")
	eraseReplyScript = indexScript("erase_reply")
)

type eraseArgs struct {
	Seller    string
	Pseudonym string
	EndPlaces bool
	Check     bool // the verb renames nothing
}

// EraseRequest names a seller to be erased from a room, and its pseudonym.
type EraseRequest struct {
	Seller    string // in NFC
	Pseudonym string // the seller's name from then on
	EndPlaces bool   // end a lease as forced, remove a waiter; false: a seller with a place is refused
	Check     bool   // change nothing, only return whether the request would be refused
}

// Erased counts the renamed places and leases.
type Erased struct{ Places, Leases int }

// EraseSeller renames a seller in all of a room's data but its journal.
//
// Every replica then takes a new snapshot of the room. Errors: ErrSellerHasPlace, with the place in the
// standing; ErrStore.
func (e *Engine) EraseSeller(ctx context.Context, id ID, q EraseRequest) (Erased, Standing, error) {
	a, err := e.answer(ctx, eraseVerb.with(eraseArgs(q)), id)
	return Erased{Places: a.RenamedPlaces, Leases: a.RenamedLeases}, e.standingOf(id, &a), err
}

// EraseReplies renames a seller in the replies that Redis keeps for repeated requests, in all rooms. It
// returns how many named the seller.
func (e *Engine) EraseReplies(ctx context.Context, seller, pseudonym string) (replies int, err error) {
	err = EachKey(ctx, e.rdb, e.names.room("*")+requests+"*", func(key string) error {
		n, err := eraseReplyScript.Run(ctx, e.rdb, []string{key}, seller, pseudonym).Int()
		if err != nil && strings.Contains(err.Error(), "WRONGTYPE") {
			return nil // the reply to a message names no seller
		}
		replies += n
		return storeError("rename in a reply", err)
	})
	return replies, err
}

// Rooms returns all rooms that Redis has, in use or not, sorted.
func (e *Engine) Rooms(ctx context.Context) (list []ID, err error) {
	err = e.eachStored(ctx, func(id ID) error { list = append(list, id); return nil })
	slices.Sort(list)
	return slices.Compact(list), err
}

// Journals returns all rooms that have a journal, empty or not, sorted.
func (e *Engine) Journals(ctx context.Context) (list []ID, err error) {
	err = EachKey(ctx, e.rdb, e.names.Journal("*"), func(key string) error {
		list = append(list, e.names.Room(key))
		return nil
	})
	slices.Sort(list)
	return slices.Compact(list), err
}
