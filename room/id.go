package room

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"
)

// ID names a room. Its zero value is not valid; ParseID makes one.
type ID string

const (
	maxIDBytes     = 128
	maxSellerRunes = 64
)

// LibraryPrefix begins what the locks of the Go library have for a room. No waiting room may: the two would be one in Redis.
const LibraryPrefix = "lock:"

var (
	idPattern     = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]*(:[a-z0-9_.-]+)*$`)
	sellerPattern = regexp.MustCompile(`^[\p{L}\p{M}\p{Nd}_.@-]+$`)
)

// ParseID checks a room id: lower-case letters, digits and _ . - in parts joined by colons, at most
// 128 bytes, and not "support". The error wraps ErrInvalidRoom.
func ParseID(s string) (ID, error) {
	if len(s) > maxIDBytes || s == string(SupportRoom) || !idPattern.MatchString(s) {
		return "", fmt.Errorf("%w: use a-z 0-9 _ . - in parts joined by ':', at most %d bytes", ErrInvalidRoom, maxIDBytes)
	}
	return ID(s), nil
}

// ParseSeller checks a seller id and returns it in NFC: 1–64 letters, combining marks and digits of
// any script and _ . @ -. The error wraps ErrInvalidSeller.
func ParseSeller(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%w: not UTF-8", ErrInvalidSeller)
	}
	s = norm.NFC.String(s)
	if n := utf8.RuneCountInString(s); n < 1 || n > maxSellerRunes || !sellerPattern.MatchString(s) {
		return "", fmt.Errorf("%w: use 1 to %d letters, digits and _ . @ -", ErrInvalidSeller, maxSellerRunes)
	}
	return s, nil
}

// ParseSession checks a session id, a UUID in its usual 36-character form, and returns it in lower
// case. The error wraps ErrInvalidSession and does not repeat the value: it is a credential.
func ParseSession(s string) (string, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 || id == uuid.Nil {
		return "", fmt.Errorf("%w: use the 36-character form", ErrInvalidSession)
	}
	return strings.ToLower(s), nil
}

// NewSession makes a random session id.
func NewSession() string { return uuid.NewString() }
