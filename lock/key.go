package lock

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/waitroom/waitroom/room"
)

// Key names what is locked, from the general to the particular: domain, entity, id and so on. It is a
// value: keys with the same parts are equal. NewKey makes one; the zero Key is not valid.
type Key struct{ text string }

// roomPrefix keeps locks apart from the waiting rooms of the same Redis: the lock of stock:item:456
// is the key {lock:stock:item:456}:lock.
const roomPrefix = "lock:"

var partPattern = regexp.MustCompile(`^[a-z0-9_.-]+$`)

// NewKey joins parts to a key: NewKey("stock", "item", "456") is stock:item:456. A part has one or
// more of a-z 0-9 _ . - and the first starts with a letter or digit; all of it is at most 123 bytes.
// Upper case is refused instead of folded, so that two ids never become one key.
// The error wraps ErrInvalidKey.
func NewKey(parts ...string) (Key, error) {
	for i, part := range parts {
		if !partPattern.MatchString(part) {
			return Key{}, fmt.Errorf("%w: part %d is %q: use one or more of a-z 0-9 _ . -", ErrInvalidKey, i+1, part)
		}
	}
	text := strings.Join(parts, ":")
	if _, err := room.ParseID(text); err != nil && text != "support" { // reserved for rooms, not for locks
		return Key{}, fmt.Errorf("%w: %q", ErrInvalidKey, text)
	}
	if _, err := room.ParseID(roomPrefix + text); err != nil {
		return Key{}, fmt.Errorf("%w: %q is too long", ErrInvalidKey, text)
	}
	return Key{text: text}, nil
}

// String is the parts joined by colons.
func (k Key) String() string { return k.text }

func (k Key) room() room.ID { return room.ID(roomPrefix + k.text) }
