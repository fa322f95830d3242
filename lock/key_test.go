package lock_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/lock"
)

func TestKeyIsItsPartsJoinedByColons(t *testing.T) {
	cases := map[string][]string{
		"order:123":                      {"order", "123"},
		"stock:item:456":                 {"stock", "item", "456"},
		"payment:789":                    {"payment", "789"},
		"stock:456:warehouse:1":          {"stock", "456", "warehouse", "1"},
		"reservation:7:2025-07-01:14.00": {"reservation", "7", "2025-07-01", "14.00"},
		"migrations":                     {"migrations"},
		"support":                        {"support"},
		strings.Repeat("a", 64):          {strings.Repeat("a", 64)},
	}
	for want, parts := range cases {
		key := newKey(t, parts...)
		require.Equal(t, want, key.String())
		require.Equal(t, want, fmt.Sprint(key))
	}
}

func TestKeyIsAnyTextAndItsTextIsReadBack(t *testing.T) {
	cases := map[string][]string{
		"order:ORD-123":                    {"order", "ORD-123"},
		"reservation:14%3A00":              {"reservation", "14:00"},
		"예약:김코치:오후%202시":                   {"예약", "김코치", "오후 2시"},
		"a%7Bb%7D%25%2F":                   {"a{b}%/"},
		"kim@example.com:_":                {"kim@example.com", "_"},
		"%00%0A%22%5C:-":                   {"\x00\n\"\\", "-"},
		"%F0%9F%99%82":                     {"🙂"},
		strings.Repeat("%25", 64) + ":%3A": {strings.Repeat("%", 64), ":"},
	}
	for want, parts := range cases {
		key := newKey(t, parts...)
		require.Equal(t, want, key.String())
		again, err := lock.ParseKey(want)
		require.NoError(t, err)
		require.Equal(t, key, again)
	}
}

func TestKeyIsAText(t *testing.T) {
	type order struct{ Lock, None lock.Key }
	want := order{Lock: newKey(t, "예약", "14:00")}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	require.JSONEq(t, `{"Lock":"예약:14%3A00","None":""}`, string(text))
	var got order
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, want, got)
	require.ErrorIs(t, json.Unmarshal([]byte(`{"Lock":"a::b"}`), &got), lock.ErrInvalidKey)
	require.Zero(t, got.Lock)
}

// Letters are not bytes: the error of a part that looks short says how many fit.
func TestPartOfTooManyBytesSaysHowManyLettersFit(t *testing.T) {
	_, err := lock.NewKey("예약", strings.Repeat("가", 22))
	require.ErrorContains(t, err, "which has 66 bytes: use 1 to 64 bytes of UTF-8 (64 letters of ASCII, 21 of Hangul)")
	newKey(t, strings.Repeat("가", 21))
}

func TestKeysOfTheSamePartsAreEqual(t *testing.T) {
	require.Equal(t, newKey(t, "stock", "item", "456"), newKey(t, "stock", "item", "456"))
	require.NotEqual(t, newKey(t, "stock", "item", "456"), newKey(t, "stock", "item", "457"))
	require.NotEqual(t, newKey(t, "order", "ORD-123"), newKey(t, "order", "ord-123"))
	require.NotEqual(t, newKey(t, "a:b"), newKey(t, "a", "b"))
}

func TestBadPartIsAnError(t *testing.T) {
	tooLong := make([]string, 16)
	for i := range tooLong {
		tooLong[i] = strings.Repeat("a", 64)
	}
	for _, parts := range [][]string{nil, {""}, {"stock", ""}, {"", "456"}, {"stock", "\xff"},
		{strings.Repeat("a", 65)}, tooLong} {
		key, err := lock.NewKey(parts...)
		require.ErrorIs(t, err, lock.ErrInvalidKey, "%q", parts)
		require.Zero(t, key)
	}
	_, err := lock.NewKey(tooLong[:15]...)
	require.NoError(t, err)
}

func TestTextThatNoKeyIsWrittenAsIsAnError(t *testing.T) {
	for _, text := range []string{"", ":", "a:", ":a", "a::b", "%", "%4", "14%3a00", "%41", "a b", "{a}", "%FF",
		strings.Repeat("a", 65)} {
		key, err := lock.ParseKey(text)
		require.ErrorIs(t, err, lock.ErrInvalidKey, "%q", text)
		require.Zero(t, key)
	}
}
