package desk

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/hub/desk/desktest"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

// payload returns the text of a server's frame, after checking that the frame is a single text frame.
func payload(t require.TestingT, frame []byte) []byte {
	require.Equal(t, byte(0x81), frame[0], "one text frame, whole")
	n, head := uint64(frame[1]), 2
	switch n {
	case 126:
		n, head = uint64(binary.BigEndian.Uint16(frame[2:])), 4
	case 127:
		n, head = binary.BigEndian.Uint64(frame[2:]), 10
	}
	require.Len(t, frame[head:], int(n))
	return frame[head:]
}

// clerk is a roster that follows the real engine's events, and a page that follows the roster's changes.
type clerk struct {
	t      *rapid.T
	e      *room.Engine
	events <-chan *redis.Message
	m      mirror.State
	r      mirror.Roster
	page   desktest.Page
	counts struct{ events, gaps, away, moved int }
}

func (c *clerk) adopt(s room.Roster) {
	ranks := make([]float64, len(s.Line))
	for i := range s.Line {
		ranks[i] = s.Line[i].Rank
	}
	c.m.Adopt(room.Snapshot{View: s.View, Ranks: ranks})
	c.r.Adopt(s)
	require.NoError(c.t, c.page.Take(payload(c.t, roomFrame(lobbyRoom, &c.r, 0, s.Now))))
}

const lobbyRoom = room.ID("integration")

// catchUp applies the published events until the roster has Redis's version and all notes of it.
func (c *clerk) catchUp(rdb redis.UniversalClient) room.Roster {
	s, err := c.e.Roster(context.Background(), lobbyRoom)
	require.NoError(c.t, err)
	if s.Version == 0 {
		c.adopt(s) // begun and never changed: there is no event yet
	}
	require.NoError(c.t, rdb.Publish(context.Background(), room.Channel(lobbyRoom), "that is all").Err())
	for {
		select {
		case msg := <-c.events:
			if msg.Payload == "that is all" {
				return s
			}
			c.event(msg.Payload, s)
		case <-time.After(time.Minute):
			require.Fail(c.t, "events are missing")
		}
	}
}

func (c *clerk) event(payloadText string, s room.Roster) {
	e, err := room.ParseEvent(payloadText)
	require.NoError(c.t, err)
	c.counts.events++
	switch c.m.Apply(&e) {
	case mirror.Gap:
		c.counts.gaps++
		c.adopt(s)
	case mirror.Applied, mirror.Noted:
		change, ok := c.r.Apply(&e)
		require.True(c.t, ok, "the roster does not fit where the mirror did")
		require.Equal(c.t, c.m.Version, c.r.Version)
		require.Len(c.t, c.r.Line, len(c.m.Line))
		for i, rank := range c.m.Line {
			require.Equal(c.t, rank, c.r.Line[i].Rank)
		}
		c.counts.away += len(change.Away)
		c.counts.moved += len(change.Moved)
		require.NoError(c.t, c.page.Take(payload(c.t, changeFrame(&c.r, &change, 0, e.Now))))
		require.Empty(c.t, c.page.Differs(rosterOf(&c.r)),
			"the page shows what the roster has, at every version")
	}
}

func rosterOf(r *mirror.Roster) room.Roster {
	s := room.Roster{View: room.View{Room: wire.Room{Epoch: r.Epoch, Version: r.Version, Hold: time.Duration(r.Hold) * time.Millisecond, Public: wire.Public{Paused: r.Paused}}},
		Holder: r.Holder, Line: r.Line}
	if r.Lease.Fence != 0 {
		s.Lease = &r.Lease
	}
	return s
}

func TestAPageFedByChangesShowsTheLineAsTheEngineHasIt(t *testing.T) {
	rdb := redistest.StartWith(t, redistest.Config{Args: []string{"--enable-debug-command", "yes"}}).Client()
	events, gaps, away, moved := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		require.NoError(t, rdb.FlushAll(ctx).Err())
		e := room.New(rdb, room.Config{AwayAfter: time.Millisecond, DropAfter: 30 * time.Millisecond,
			Recovery: -1})
		sub := rdb.Subscribe(ctx, room.Channel(lobbyRoom))
		defer func() { _ = sub.Close() }()
		_, err := sub.Receive(ctx)
		require.NoError(t, err)
		c := &clerk{t: t, e: e, events: sub.Channel(redis.WithChannelSize(1000))}
		people := make([]string, 8)
		for i := range people {
			people[i] = room.NewSession()
		}
		// the steps below empty the line often but hardly ever fill it, so it begins with waiters
		for _, id := range people[:4] {
			_, err := e.Join(ctx, lobbyRoom, room.JoinRequest{Session: id})
			require.NoError(t, err)
		}
		start, err := e.Roster(ctx, lobbyRoom)
		require.NoError(t, err)
		c.adopt(start)
		who := func(t *rapid.T) string { return people[rapid.IntRange(0, len(people)-1).Draw(t, "who")] }
		ticket := func(t *rapid.T) int64 {
			tickets := []int64{c.r.Lease.Ticket + 100} // of no place
			for _, w := range c.r.Line {
				tickets = append(tickets, w.Ticket)
			}
			return rapid.SampledFrom(tickets).Draw(t, "ticket")
		}
		refusable := func(_ any, err error) { require.False(t, err != nil && !room.Refused(err), err) }
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				lease := time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 5}).Draw(t,
					"lease")) * time.Millisecond
				id := who(t)
				refusable(e.Join(ctx, lobbyRoom,
					room.JoinRequest{Session: id, Seller: "판매자" + id[:4], Lease: lease}))
			},
			"leave": func(t *rapid.T) {
				refusable(e.Leave(ctx, lobbyRoom,
					room.LeaveRequest{Session: who(t), Outcome: room.Completed}))
			},
			"ask": func(t *rapid.T) {
				refusable(e.Expect(ctx, lobbyRoom,
					room.ExpectRequest{Session: who(t)}))
			},
			"pause": func(t *rapid.T) {
				refusable(e.Pause(ctx, lobbyRoom, "", rapid.Bool().Draw(t, "paused"), room.Action{}))
			},
			"expire": func(t *rapid.T) { refusable(e.Expire(ctx, lobbyRoom)) },
			"delete": func(t *rapid.T) { rdb.Del(ctx, room.LockKey(lobbyRoom)) },
			"extend": func(t *rapid.T) {
				refusable(e.Extend(ctx, lobbyRoom, "", c.r.Lease.Fence, time.Second, room.Action{}))
			},
			"move": func(t *rapid.T) {
				refusable(e.Move(ctx, lobbyRoom, "", ticket(t), rapid.IntRange(1, 4).Draw(t, "to"),
					room.Action{}))
			},
			"remove": func(t *rapid.T) { refusable(e.Remove(ctx, lobbyRoom, "", ticket(t), room.Action{})) },
			"restore": func(t *rapid.T) {
				gone := ticket(t)
				refusable(e.Remove(ctx, lobbyRoom, "", gone, room.Action{}))
				refusable(e.Restore(ctx, lobbyRoom, "", gone, room.Action{}))
			},
			"gone": func(t *rapid.T) {
				refusable(e.Seen(ctx, lobbyRoom, time.Second, nil, []string{who(t)}))
				// let Redis's clock pass AwayAfter
				require.NoError(t, rdb.Do(ctx, "DEBUG", "SLEEP", "0.002").Err())
			},
			"back": func(t *rapid.T) {
				refusable(e.Seen(ctx, lobbyRoom, time.Second, []string{who(t)},
					nil))
			},
			"": func(t *rapid.T) {
				c.t = t
				require.Empty(t, c.page.Differs(c.catchUp(rdb)))
			},
		})
		events, gaps = events+c.counts.events, gaps+c.counts.gaps
		away, moved = away+c.counts.away, moved+c.counts.moved
	})
	require.Less(t, gaps*20, events, "gaps are rare")
	require.Positive(t, away)
	require.Positive(t, moved)
}
