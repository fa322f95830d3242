package room

import (
	"errors"
	"fmt"
)

// Format is the latest way to write keys, events and journal entries that this program knows; library.lua has the same number. A program reads
// its own format and all earlier ones. In a room that is written in a later one it does nothing (ErrNewer) rather than something wrong.
// So one release reads a new format, and the next one writes it: then old and new replicas serve side by side.
const Format = 1

// ErrNewer says that a later program wrote what this one was to read. It is a failure of the store (ErrStore) to those who ask for more.
var ErrNewer = fmt.Errorf("%w: %w", ErrStore, errors.New("written by a later waitroom than this one: upgrade this replica"))
