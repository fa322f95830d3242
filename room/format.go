package room

import (
	"errors"
	"fmt"
)

// Format is how this program writes keys, events and journal entries; prelude.lua has the same number. A program reads its own format and all
// earlier ones. It writes a room in its own format from the first change on, and from then on an older program does nothing in that room
// (ErrNewer) rather than something wrong. So a new format is first read by one release and written by the next: then old and new replicas serve side by side.
const Format = 1

// ErrNewer says that a later program wrote what this one was to read. It is a failure of the store (ErrStore) to those who ask for more.
var ErrNewer = fmt.Errorf("%w: %w", ErrStore, errors.New("written by a later waitroom than this one: upgrade this replica"))
