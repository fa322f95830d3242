package room_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestRoomIDs(t *testing.T) {
	for id, valid := range map[string]bool{
		"integration": true, "a": true, "0": true, "stock:item:456": true, "a_b.c-d:.x": true,
		strings.Repeat("a", 128): true, strings.Repeat("a", 129): false,
		"": false, "support": false, "Integration": false, "-a": false, ":a": false, "a:": false,
		"a::b": false, "a b": false, "a}b": false, "연동": false, "a\n": false, "a/b": false,
	} {
		_, err := room.ParseID(id)
		require.Equal(t, valid, err == nil, "%q: %v", id, err)
		if !valid {
			require.ErrorIs(t, err, room.ErrInvalidRoom)
		}
	}
}

func TestSellerIDsAreKeptInNFC(t *testing.T) {
	decomposed, composed := "\u1112\u1161\u1105\u1169\u11a8", "하록"
	got, err := room.ParseSeller(decomposed)
	require.NoError(t, err)
	require.Equal(t, composed, got)
	for id, valid := range map[string]bool{
		"s-1": true, "a.b_c@d-e": true, "עברית": true, "क्षि": true, "٣": true, strings.Repeat("가", 64): true,
		strings.Repeat("a", 65): false, "": false, "a b": false, "a|b": false, "<b>": false, `"`: false,
		"a\x00": false, "\xff": false, "😀": false, "½": false,
	} {
		_, err := room.ParseSeller(id)
		require.Equal(t, valid, err == nil, "%q: %v", id, err)
		if !valid {
			require.ErrorIs(t, err, room.ErrInvalidSeller)
		}
	}
}

func TestSessionIDsAreUUIDsAndNotRepeatedInErrors(t *testing.T) {
	id, err := room.ParseSession("6BA7B810-9DAD-41D1-80B4-00C04FD430C8")
	require.NoError(t, err)
	require.Equal(t, "6ba7b810-9dad-41d1-80b4-00c04fd430c8", id)
	for _, bad := range []string{"", "secret", "00000000-0000-0000-0000-000000000000",
		"{6ba7b810-9dad-41d1-80b4-00c04fd430c8}",
		"6ba7b8109dad41d180b400c04fd430c8", "urn:uuid:6ba7b810-9dad-41d1-80b4-00c04fd430c8",
		"6ba7b810-9dad-41d1-80b4-00c04fd430cg"} {
		_, err := room.ParseSession(bad)
		require.ErrorIs(t, err, room.ErrInvalidSession, bad)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestSellerThatCanNotBeSeenOrToldApartIsRefused(t *testing.T) {
	for _, bad := range []string{"\u3164", "\uffa0", "\u115f\u1160", "\u0301", "\u0301a", "s-1\ufe0f", "s-1\u034f",
		"a\u17b4", "a\u180b", "a\U000e0100"} {
		_, err := room.ParseSeller(bad)
		require.ErrorIs(t, err, room.ErrInvalidSeller, "%q", bad)
	}
	for _, good := range []string{"판매자-1", "12-אבג", "e\u0301", "ก็", "हिन्दी"} {
		_, err := room.ParseSeller(good)
		require.NoError(t, err, good)
	}
}
