package room

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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
	Check     bool // nothing is renamed
}

// EraseRequest says whom a room is to forget.
type EraseRequest struct {
	Seller    string // in NFC
	Pseudonym string // what it is called instead
	EndPlaces bool   // a lease is ended as forced, a waiter removed; else who has a place is not forgotten
	Check     bool   // only say whether that would be refused
}

// Erased counts what was renamed.
type Erased struct{ Places, Leases int }

// EraseSeller renames a seller in all that a room remembers but its journal. Every replica reads the room anew.
// Refusal: ErrSellerHasPlace; the standing says which.
func (e *Engine) EraseSeller(ctx context.Context, id ID, q EraseRequest) (Erased, Standing, error) {
	a, err := e.answer(ctx, eraseVerb.with(eraseArgs(q)), id, []string{unremembered})
	if err != nil {
		return Erased{}, a.standing, err
	}
	if len(a.rest) != 2 {
		return Erased{}, a.standing, fmt.Errorf("%w: erase reply has %d fields too many or few", ErrStore, len(a.rest)-2)
	}
	places, _ := strconv.Atoi(a.rest[0])
	leases, _ := strconv.Atoi(a.rest[1])
	return Erased{Places: places, Leases: leases}, a.standing, nil
}

// EraseReplies renames a seller in the replies that are remembered for repeats, in all rooms, and says in how many.
func (e *Engine) EraseReplies(ctx context.Context, seller, pseudonym string) (replies int, err error) {
	err = EachKey(ctx, e.rdb, e.names.room(ID(e.cfg.Prefix)+"*")+unremembered+"*", func(key string) error {
		n, err := eraseReplyScript.Run(ctx, e.rdb, []string{key}, seller, pseudonym).Int()
		if err != nil && strings.Contains(err.Error(), "WRONGTYPE") {
			return nil // what is remembered of a message names nobody
		}
		replies += n
		return storeError("rename in a reply", err)
	})
	return replies, err
}

// Rooms lists all rooms that the store remembers, in use or not, in order.
func (e *Engine) Rooms(ctx context.Context) (list []ID, err error) {
	err = e.eachRoom(ctx, func(id ID) error { list = append(list, id); return nil })
	slices.Sort(list)
	return slices.Compact(list), err
}

// Journals lists all rooms that have a journal, whether or not anything is in it, in order.
func (e *Engine) Journals(ctx context.Context) (list []ID, err error) {
	err = EachKey(ctx, e.rdb, e.names.Journal(ID(e.cfg.Prefix)+"*"), func(key string) error {
		list = append(list, e.names.Room(key))
		return nil
	})
	slices.Sort(list)
	return slices.Compact(list), err
}
