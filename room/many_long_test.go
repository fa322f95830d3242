//go:build long

package room_test

import "testing"

// These tests need so many calls that the embedded Redis's Lua is too slow.

func TestManySellersAndMessagesOnTheEmbeddedStore(t *testing.T) {
	t.Run("one look of the sweep finds all away waiters", func(t *testing.T) {
		onEmbedded(t, oneLookFindsAll)
	})
	t.Run("a moved waiter is found by its ticket in a long line", func(t *testing.T) {
		onEmbedded(t, foundInALongLine)
	})
	t.Run("two hundred joins at once give one lease", func(t *testing.T) { onEmbedded(t, manyJoinAtOnce) })
	t.Run("recent messages are read in parts", func(t *testing.T) { onEmbedded(t, recentMessagesInParts) })
}

func TestGlanceLooksAtTheLastSixHundredGrants(t *testing.T) { glanceAfter(t, 620, 600) }
