package room

import (
	"errors"
	"fmt"
)

// Format is the newest format of keys, events and journal entries that this program reads and writes.
//
// library.lua has the same number. A program reads its own format and all earlier ones, and refuses a room in
// a later format (ErrNewer). A new format therefore takes two releases: one reads it, the next one writes it.
// So old and new replicas can serve side by side.
const Format = 1

// ErrNewer reports data in a later format than this program reads. It wraps ErrStore.
var ErrNewer = fmt.Errorf("%w: %w", ErrStore,
	errors.New("written by a later waitroom than this one: upgrade this replica"))
