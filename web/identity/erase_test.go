package identity

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/room"
)

func TestErasedSellersSessionsAreUnknownOnEveryReplica(t *testing.T) {
	server, one, other := shared(t)
	first, second := link(t, one, portaltest.For("s-1"), ""), link(t, other, portaltest.For("s-1"), "")
	stays := link(t, one, portaltest.For("s-2"), "")
	n, err := Erase(t.Context(), server.Client(), room.Names{}, "s-1")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	for _, replica := range []*Sellers{one, other, one} { // none puts back what it remembers
		for _, session := range []string{first, second} {
			_, err := replica.Session(t.Context(), here, session)
			require.ErrorIs(t, err, ErrNotIdentified)
		}
	}
	require.Equal(t, "s-2", proof(t, other, stays).Seller)
	n, err = Erase(t.Context(), server.Client(), room.Names{}, "s-1")
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, "s-1", proof(t, one, link(t, one, portaltest.For("s-1"), first)).Seller,
		"it may come again")
}
