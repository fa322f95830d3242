package lock

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPartBytes = 64
	maxKeyBytes  = 1024
)

// Key names a lock, from the general to the particular: domain, entity, id and so on. It is a value: keys are
// equal where all their parts are, byte by byte. NewKey makes one; the zero Key is not valid.
type Key struct{ text string }

// NewKey joins parts to a key: NewKey("stock", "item", "456") is stock:item:456. A part is 1 to 64 bytes of
// UTF-8, any of it: "ORD-123", "14:00", "예약" (of Hangul, 21 syllables). The key as String shows it has at
// most 1,024 bytes.
// The error wraps ErrInvalidKey.
func NewKey(parts ...string) (Key, error) {
	if len(parts) == 0 {
		return Key{}, fmt.Errorf("%w: it has no parts", ErrInvalidKey)
	}
	escaped := make([]string, len(parts))
	for i, part := range parts {
		if part == "" || len(part) > maxPartBytes || !utf8.ValidString(part) {
			return Key{}, fmt.Errorf("%w: part %d is %q, which has %d bytes: use 1 to %d bytes of UTF-8 "+
				"(%[5]d letters of ASCII, %d of Hangul)", ErrInvalidKey, i+1, part, len(part), maxPartBytes,
				maxPartBytes/len("가"))
		}
		escaped[i] = escape(part)
	}
	text := strings.Join(escaped, ":")
	if len(text) > maxKeyBytes {
		return Key{}, fmt.Errorf("%w: it has %d bytes, over %d", ErrInvalidKey, len(text), maxKeyBytes)
	}
	return Key{text: text}, nil
}

// ParseKey reads what Key.String wrote. The error wraps ErrInvalidKey.
func ParseKey(text string) (Key, error) {
	parts := strings.Split(text, ":")
	for i, part := range parts {
		var err error
		if parts[i], err = url.PathUnescape(part); err != nil {
			return Key{}, fmt.Errorf("%w: part %d is %q: %w", ErrInvalidKey, i+1, part, err)
		}
	}
	key, err := NewKey(parts...)
	if err != nil {
		return Key{}, err
	}
	if key.text != text {
		return Key{}, fmt.Errorf("%w: %q is written %q", ErrInvalidKey, text, key.text)
	}
	return key, nil
}

// String returns the parts joined by colons. Letters, combining marks and digits of any script and _ . @ -
// stand for themselves, every other character is percent-encoded, a colon within a part too.
func (k Key) String() string { return k.text }

// MarshalText returns the key as String does, for JSON, logs and configuration; "" for the zero Key.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.text), nil }

// UnmarshalText is ParseKey, and reads "" as the zero Key. The error wraps ErrInvalidKey.
func (k *Key) UnmarshalText(text []byte) (err error) {
	*k = Key{}
	if len(text) > 0 {
		*k, err = ParseKey(string(text))
	}
	return err
}

func escape(part string) string {
	if !strings.ContainsFunc(part, isEscaped) {
		return part
	}
	var b strings.Builder
	for _, r := range part {
		if !isEscaped(r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isEscaped(r rune) bool {
	return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune("_.@-", r)
}
