package read

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A cursor that parses names a position that a database can be queried for, and encodes to the same cursor.
func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "e30", "bnVsbA", "W10", "!",
		cursor(position{At: 1795220000000, Kind: 2, Key: "1 2"}), cursor(position{Kind: -1}),
		cursor(position{Kind: 99}), cursor(position{Key: "a\x00b"}), "eyJhIjoxZTMwfQ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseCursor[position](text)
		if err != nil {
			require.Equal(t, ErrCursor, err)
			return
		}
		if p == nil {
			require.Empty(t, text)
			return
		}
		require.True(t, p.Kind >= 0 && p.Kind < len(kinds))
		again, err := parseCursor[position](cursor(p))
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}

func FuzzAuditCursorThatIsTakenIsTheSameWhenItIsGivenOutAgain(f *testing.F) {
	for _, seed := range []string{"", "e30", "bnVsbA", "W10", "!",
		cursor(actionKey{At: 1, Room: "integration", Epoch: 2, Entry: "5-1", N: 3}), cursor(actionKey{At: 1}),
		cursor(actionKey{Room: "a\x00b"})} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := parseCursor[actionKey](text)
		if err != nil {
			require.Equal(t, ErrCursor, err)
			return
		}
		if k == nil {
			require.Empty(t, text)
			return
		}
		require.NotEmpty(t, k.Room)
		again, err := parseCursor[actionKey](cursor(k))
		require.NoError(t, err)
		require.Equal(t, k, again)
	})
}
