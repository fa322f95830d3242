package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/room"
)

// Rooms is the set of existing rooms: some by name, others by a prefix.
type Rooms struct {
	names    []room.ID
	prefixes []string
}

// ParseRooms parses a list such as "integration,stock:*". Room ids are checked; "prefix:*" allows every id
// that begins with "prefix:".
func ParseRooms(list string) (Rooms, error) {
	var rooms Rooms
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		prefix, all := strings.CutSuffix(entry, ":*")
		id, err := room.ParseID(prefix)
		if err == nil && strings.HasPrefix(entry, room.LibraryPrefix) {
			err = fmt.Errorf("%w: what begins with %s is a lock of the Go library in the same Redis",
				room.ErrInvalidRoom, room.LibraryPrefix)
		}
		if err != nil {
			return Rooms{}, fmt.Errorf("room %q: %w", entry, err)
		}
		if all {
			rooms.prefixes = append(rooms.prefixes, prefix+":")
		} else {
			rooms.names = append(rooms.names, id)
		}
	}
	return rooms, nil
}

// Has reports whether the room exists.
func (r Rooms) Has(id room.ID) bool {
	return slices.Contains(r.names, id) || slices.ContainsFunc(r.prefixes, func(p string) bool {
		return strings.HasPrefix(string(id), p)
	})
}

// Names returns the rooms listed by name.
func (r Rooms) Names() []room.ID { return slices.Clone(r.names) }

// Default returns the first room listed by name; ok is false if all are prefixes.
func (r Rooms) Default() (id room.ID, ok bool) {
	if len(r.names) == 0 {
		return "", false
	}
	return r.names[0], true
}

// Begins reports whether a room's id may begin with prefix, which ends in a colon.
func (r Rooms) Begins(prefix string) bool {
	return slices.ContainsFunc(r.names, func(id room.ID) bool {
		return strings.HasPrefix(string(id),
			prefix)
	}) ||
		slices.ContainsFunc(r.prefixes, func(p string) bool {
			return strings.HasPrefix(p, prefix) ||
				strings.HasPrefix(prefix, p)
		})
}

// Paths returns the paths of a room's page; the first is its own.
func (r Rooms) Paths(id room.ID) []string {
	paths := []string{pagePath(id, "")}
	if first, ok := r.Default(); ok && first == id {
		paths = append(paths, "/")
	}
	return paths
}

// Entries lists the rooms and the prefixes, each with its star; named rooms first.
func (r Rooms) Entries() (entries []string) {
	for _, id := range r.names {
		entries = append(entries, string(id))
	}
	for _, p := range r.prefixes {
		entries = append(entries, p+"*")
	}
	return entries
}

// String lists the rooms, named ones first.
func (r Rooms) String() string { return strings.Join(r.Entries(), ", ") }
