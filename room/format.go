package room

import (
	"errors"
	"fmt"
)

// Format is the latest way to write keys, events and journal entries that this program knows; library.lua has the same number. A program reads its own format
// and all earlier ones. Where one has written a room in its own format, an older program does nothing in that room (ErrNewer) rather than something wrong.
// So a new format is first read by one release and written by the next: then old and new replicas serve side by side.
//
// Format 2 has leases that are to be claimed. A room is written in it from the first change on for which Config.ClaimWithin is set there, and in format 1 until then.
const Format = 2

// ErrNewer says that a later program wrote what this one was to read. It is a failure of the store (ErrStore) to those who ask for more.
var ErrNewer = fmt.Errorf("%w: %w", ErrStore, errors.New("written by a later waitroom than this one: upgrade this replica"))
