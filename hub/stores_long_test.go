//go:build long

package hub_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

func TestHandoffsAreSentOnEveryStore(t *testing.T) {
	for name, store := range map[string]func(testing.TB) redis.UniversalClient{
		"sentinel": func(tb testing.TB) redis.UniversalClient { return redistest.StartSentinel(tb).Client() },
		"cluster":  func(tb testing.TB) redis.UniversalClient { return redistest.StartCluster(tb).Client() },
	} {
		t.Run(name, func(t *testing.T) { requireHandoffs(t, store(t), func(*room.Engine, room.ID) {}) })
	}
}

func TestAFailoverLeavesEverySocketWithTheTrueState(t *testing.T) {
	sentinel := redistest.StartSentinel(t)
	r := start(t, sentinel.Client(), room.Config{}, hub.Config{})
	ids := sessions(6)
	var sockets []*socket
	for _, id := range ids {
		sockets = append(sockets, r.dial(id))
		join(t, r.Engine, id)
	}
	sentinel.KillMaster()
	testproc.Until(t, within, func() error {
		_, err := r.Engine.Leave(context.Background(), lobby,
			room.LeaveRequest{Session: ids[0], Outcome: room.Completed})
		if room.Refused(err) {
			return nil // done before, or lost with the old master
		}
		return err
	})
	untilSettled(t, r.Engine, lobby, sockets...)
	untilFresh(t, r.Hub)
}
