package room

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"github.com/waitroom/waitroom/room/wire"
)

// ID names a room. Its zero value is not valid; ParseID makes one.
type ID = wire.ID

const (
	maxIDBytes     = 128
	maxSellerRunes = 64
)

// LibraryPrefix begins the room ids of the Go lock library. The id of a waiting room must not begin so, since
// that room and a lock of the library would share keys in Redis.
const LibraryPrefix = "lock:"

var (
	idPattern     = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]*(:[a-z0-9_.-]+)*$`)
	sellerPattern = regexp.MustCompile(`^[\p{L}\p{M}\p{Nd}_.@-]+$`)
)

// ParseID returns a valid room id. The error wraps ErrInvalidRoom.
//
// An id begins with a-z or 0-9, has a-z 0-9 _ . - in parts joined by colons, at most 128 bytes, and is not
// "support". An id with LibraryPrefix is valid: it names a lock of the library.
func ParseID(s string) (ID, error) {
	if len(s) > maxIDBytes || s == string(SupportRoom) || !idPattern.MatchString(s) {
		return "", fmt.Errorf("%w: use a-z 0-9 _ . - in parts joined by ':', at most %d bytes",
			ErrInvalidRoom, maxIDBytes)
	}
	return ID(s), nil
}

// ParseSeller returns a valid seller id in NFC. The error wraps ErrInvalidSeller.
//
// An id has 1 to 64 letters, combining marks and digits of any script, and _ . @ -. It begins with no mark,
// and has no character that is not shown: two ids that look alike could not be distinguished at the desk.
func ParseSeller(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%w: not UTF-8", ErrInvalidSeller)
	}
	s = norm.NFC.String(s)
	if n := utf8.RuneCountInString(s); n < 1 || n > maxSellerRunes || !sellerPattern.MatchString(s) ||
		strings.ContainsFunc(s, ignorable) || unicode.IsMark([]rune(s)[0]) {
		return "", fmt.Errorf("%w: use 1 to %d letters, digits and _ . @ -", ErrInvalidSeller, maxSellerRunes)
	}
	return s, nil
}

// ignorable reports whether a letter or mark is a Default_Ignorable_Code_Point.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// ParseSession returns a valid session id in lower case: a UUID in its 36-character form.
//
// The error wraps ErrInvalidSession and does not repeat the value, which is a credential.
func ParseSession(s string) (string, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 || id == uuid.Nil {
		return "", fmt.Errorf("%w: use the 36-character form", ErrInvalidSession)
	}
	return strings.ToLower(s), nil
}

// NewSession returns a random session id.
func NewSession() string { return uuid.NewString() }
