package lock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/lock"
)

func TestKeyIsItsPartsJoinedByColons(t *testing.T) {
	cases := map[string][]string{
		"order:123":                           {"order", "123"},
		"stock:item:456":                      {"stock", "item", "456"},
		"payment:789":                         {"payment", "789"},
		"stock:456:warehouse:1":               {"stock", "456", "warehouse", "1"},
		"reservation:7:2025-07-01:14.00":      {"reservation", "7", "2025-07-01", "14.00"},
		"migrations":                          {"migrations"},
		"support":                             {"support"},
		strings.Repeat("a", 123):              {strings.Repeat("a", 123)},
		"a:" + strings.Repeat("_.-", 40) + "": {"a", strings.Repeat("_.-", 40)},
	}
	for want, parts := range cases {
		key, err := lock.NewKey(parts...)
		require.NoError(t, err, want)
		require.Equal(t, want, key.String())
		require.Equal(t, want, fmt.Sprint(key))
	}
}

func TestKeysOfTheSamePartsAreEqual(t *testing.T) {
	require.Equal(t, newKey(t, "stock", "item", "456"), newKey(t, "stock", "item", "456"))
	require.NotEqual(t, newKey(t, "stock", "item", "456"), newKey(t, "stock", "item", "457"))
}

func TestBadPartIsAnError(t *testing.T) {
	for _, parts := range [][]string{
		nil, {""}, {"stock", ""}, {"", "456"}, {"stock", "item:456"}, {"Stock", "1"}, {"stock", "한"}, {"stock", "4 5"},
		{"stock", "{456}"}, {"stock", "4\n"}, {"-stock", "1"}, {strings.Repeat("a", 124)},
	} {
		key, err := lock.NewKey(parts...)
		require.ErrorIs(t, err, lock.ErrInvalidKey, "%q", parts)
		require.Zero(t, key)
	}
}
