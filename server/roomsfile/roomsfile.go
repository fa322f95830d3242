// Package roomsfile reads ROOMS_FILE: the settings of single rooms, or of all rooms with a prefix. The server
// uses a Book, which can reread the file.
package roomsfile

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/sms/source"
	"github.com/waitroom/waitroom/templates/brand"
)

// Entry holds a room's settings; the file overrides the general ones.
type Entry struct {
	Name        Text
	Phone       string // the shared number that receives codes
	Marketplace Marketplace
	// Marketplaces are those of which the seller chooses one; none: Marketplace is the only one.
	Marketplaces []Marketplace
	Support      Support
	ReturnURL    string
	Open         *Hours // when the room takes new places; nil: always
	Brand        Brand

	Senders  []string      // accepted senders; none: all
	Verifier *sms.Verifier // of the room's own secret; nil: none
	// seals messages with the room's or its sources' secret where no shared one exists; nil: none
	Keyring *seal.Keyring

	Sources map[string]source.Configured // phones and providers that post in their own format, by name

	Lease       time.Duration
	ClaimWithin time.Duration // 0: no claims
	Quarantine  time.Duration // 0: none
	Required    bool          // every lease expects a code
}

// Marketplace is the site where a seller requests its code.
type Marketplace struct {
	Name     Text
	URL      string
	From     []string // senders of its codes, of which the page's asks accept no others; none: all
	Contains string   // text of its codes, likewise; "" = any
}

// Markets returns the room's marketplaces, none if it has no such setting. Of several the seller chooses one.
func (e *Entry) Markets() []Marketplace {
	m := e.Marketplace
	if len(e.Marketplaces) > 0 || m.Name == nil && m.URL == "" && m.From == nil && m.Contains == "" {
		return e.Marketplaces
	}
	return []Marketplace{m}
}

// AllSenders returns the senders whose messages count in the room: its own list, or else those of all its
// marketplaces; none if one of them has no list, since any sender may be that one's.
func (e *Entry) AllSenders() (all []string) {
	if len(e.Senders) > 0 {
		return e.Senders
	}
	for _, m := range e.Markets() {
		if len(m.From) == 0 {
			return nil
		}
		all = append(all, m.From...)
	}
	return all
}

// OpenToAll reports whether a room takes texts of every sender. A room takes none without a source or a
// secret of its own, or a shared secret.
func (e *Entry) OpenToAll(shared bool) bool {
	return (shared || e.Verifier != nil || len(e.Sources) > 0) && len(e.AllSenders()) == 0
}

// Support is a seller's contact.
type Support struct {
	Text     Text
	URL, Tel string
}

// Brand is the look of a seller's portal. Each part may be missing; a logo has a name.
type Brand struct {
	Name  Text
	Logo  *brand.Logo
	Style *brand.File // of its colour
}

// Text is a text by language; "" is the one for all other languages.
type Text map[string]string

// In returns the text in a language.
func (t Text) In(lang string) string {
	if text, ok := t[lang]; ok {
		return text
	}
	return t[""]
}

// File is a valid rooms file.
type File struct {
	Warnings []string // likely mistakes that are not faults
	Sum      string   // digest of the text

	entries map[string]*Entry // by room, or by prefix with its star
	rest    *Entry            // of every other room
	secrets [][]byte          // of all entries
}

// Of returns a room's entry: its own, or that of the longest prefix. It must not be changed.
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

// Each calls of for each room or prefix of the file, in order of the names. A prefix ends in its star.
func (f *File) Each(of func(name string, e *Entry)) {
	for _, name := range slices.Sorted(maps.Keys(f.entries)) {
		of(name, f.entries[name])
	}
}

// Len returns the number of entries.
func (f *File) Len() int { return len(f.entries) }

// prefixes returns the prefixes that a room's id, or another prefix, is within, the longest first.
func prefixes(key string) (list []string) {
	key = strings.TrimSuffix(key, prefixEnd)
	for end := strings.LastIndexByte(key, ':'); end > 0; end = strings.LastIndexByte(key[:end], ':') {
		list = append(list, key[:end]+prefixEnd)
	}
	return list
}

// prefixEnd ends an entry for all rooms with a prefix.
const prefixEnd = ":*"
