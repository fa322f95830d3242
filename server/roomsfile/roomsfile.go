// Package roomsfile reads ROOMS_FILE: what a room, or all rooms that begin with a prefix, have of their own.
// What is served from is a Book, which can be told to read the file again.
package roomsfile

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/sms/source"
)

// Entry is what holds for a room, with what the settings say where the file says nothing.
type Entry struct {
	Name        Text
	Phone       string // the shared number that codes come to
	Marketplace Marketplace
	Support     Support
	ReturnURL   string

	Senders  []string      // whose messages count at all; none: everybody's
	Verifier *sms.Verifier // of the room's own secret; nil: it has none
	Keyring  *room.Keyring // of the same secret, else of the sources', to seal with where there is no other; nil: it has none

	Sources map[string]source.Configured // phones and providers that post in their own format, by name

	Lease       time.Duration
	ClaimWithin time.Duration // 0: nobody needs to claim
	Quarantine  time.Duration // 0: none
	Required    bool          // every lease is asking
}

// Marketplace is where a seller asks for its code.
type Marketplace struct {
	Name Text
	URL  string
}

// Support is whom a seller asks.
type Support struct {
	Text     Text
	URL, Tel string
}

// Text is what people read, by the language that they read it in; "" is for every language that is not there.
type Text map[string]string

// In is the text for who reads that language.
func (t Text) In(lang string) string {
	if said, ok := t[lang]; ok {
		return said
	}
	return t[""]
}

// File is a rooms file that is right.
type File struct {
	Warnings []string // what is no fault and may not be meant

	entries map[string]*Entry // by room, or by prefix with its star
	rest    *Entry            // of every other room
	secrets [][]byte          // all of them
}

// Of is what holds for a room: its own entry, else that of the longest prefix. It must not be changed.
func (f *File) Of(id room.ID) *Entry {
	if e := f.entries[string(id)]; e != nil {
		return e
	}
	for _, prefix := range prefixes(string(id)) {
		if e := f.entries[prefix]; e != nil {
			return e
		}
	}
	return f.rest
}

// Each hands over what holds for each room or prefix that the file names, in order of the names; a prefix
// ends in its star.
func (f *File) Each(of func(name string, e *Entry)) {
	for _, name := range slices.Sorted(maps.Keys(f.entries)) {
		of(name, f.entries[name])
	}
}

// Len is how many entries the file has.
func (f *File) Len() int { return len(f.entries) }

// prefixes are those that allow an id, or that hold for all that another prefix does, the longest first.
func prefixes(key string) (list []string) {
	key = strings.TrimSuffix(key, prefixEnd)
	for end := strings.LastIndexByte(key, ':'); end > 0; end = strings.LastIndexByte(key[:end], ':') {
		list = append(list, key[:end]+prefixEnd)
	}
	return list
}

// prefixEnd is what an entry ends in that is of all rooms with a prefix.
const prefixEnd = ":*"
