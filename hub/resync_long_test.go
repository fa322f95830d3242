//go:build long

package hub_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestEverySocketShowsTheTrueStateAfterEachKindOfCut(t *testing.T) {
	server := redistest.Start(t)
	direct := room.New(server.Client(), room.Config{})
	for name, cut := range cuts(t, server, direct) {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, server.Client().FlushAll(t.Context()).Err())
			requireTrueStates(t, server, direct, 500, cut)
		})
	}
}

func TestSupportSeesTheLineAsItIsAfterEachKindOfCut(t *testing.T) {
	server := redistest.Start(t)
	direct := room.New(server.Client(), stormy)
	all := cuts(t, server, direct)
	all["nothing goes wrong"] = func(*redistest.Proxy) {}
	for name, cut := range all {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, server.Client().FlushAll(t.Context()).Err())
			requireTruePages(t, server, direct, 200, cut)
		})
	}
}
