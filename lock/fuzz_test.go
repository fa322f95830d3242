package lock_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/lock"
)

// Two keys are equal only if all their parts are. A valid key is whole in the names of the store's keys, and
// is read back from its text.
func FuzzKey(f *testing.F) {
	for _, seed := range [][4]string{{"stock", "456", "stock", "456"}, {"stock:4", "5", "stock", "4:5"},
		{"a", "", "a", "b"}, {"support", "1", "", ""},
		{"ab", "c", "a", "bc"}, {"a}", "b", "{a", "b"}, {"Stock", "1", "stock", "1"}, {"-", "a", "a", "-"}, {"한",
			"%3A", "한", ":"}, {"lock", "a", "lock", "lock:a"},
		{"ORD-123", "14:00", "ORD-123", "14%3A00"}, {"\u200b", "\x00", "\xff", "e\u0301"}, {"!", "\"", "\\", "|"}} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		one, errOne := lock.NewKey(a, b)
		other, errOther := lock.NewKey(c, d)
		for _, err := range []error{errOne, errOther} {
			if err != nil {
				require.ErrorIs(t, err, lock.ErrInvalidKey)
			}
		}
		may := func(part string) bool { return part != "" && len(part) <= 64 && utf8.ValidString(part) }
		require.Equal(t, may(a) && may(b), errOne == nil, "%q %q", a, b)
		if errOne != nil {
			require.Equal(t, lock.Key{}, one)
			return
		}
		require.False(t, strings.ContainsAny(one.String(), "{}\"\\|,; \r\n\x00"), one.String())
		require.NotContains(t, one.String(), "::")
		again, err := lock.ParseKey(one.String())
		require.NoError(t, err)
		require.Equal(t, one, again)
		if errOther == nil {
			require.Equal(t, a == c && b == d, one == other, "%q %q and %q %q", a, b, c, d)
		}
		if single, err := lock.NewKey(a); err == nil {
			require.NotEqual(t, one, single, "another number of parts is another key")
		}
	})
}

// For any text, a parsed key is written back the same.
func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{"stock:item:456", "14%3A00", "14%3a00", "%41", "예약", "", ":", "a::b", "%",
		"%4", "a+b", "%FF", "{a}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := lock.ParseKey(text)
		if err != nil {
			require.ErrorIs(t, err, lock.ErrInvalidKey)
			return
		}
		require.Equal(t, text, key.String())
	})
}

// Any text as a token either parses, or belongs to no lease.
func FuzzParseToken(f *testing.F) {
	key, err := lock.NewKey("예약", "14:00")
	require.NoError(f, err)
	for _, seed := range []string{lock.NewLease(key, 7, time.Time{}, "proof").Token(), "", "NyBwcm9vZiBh", "%",
		"MCBwIGE"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		lease, err := lock.ParseToken(token)
		if err != nil {
			require.ErrorIs(t, err, lock.ErrNotHeld)
			return
		}
		require.Positive(t, lease.Fence)
		require.NotEmpty(t, lease.Proof())
		again, err := lock.ParseToken(lease.Token())
		require.NoError(t, err)
		require.Equal(t, lease, again)
	})
}
