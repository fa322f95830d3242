package room_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
)

func TestRecentMessagesAreTheUnmatchedAndLateOnes(t *testing.T) {
	d := newDesk(t, room.Config{})
	require.Empty(t, d.recent(), "a room that was never used")
	a, b := d.asker("a"), d.asker("b")
	former := a.stand().Lease
	asked := d.now.UnixMilli()
	a.expectOnly("쿠팡")
	a.expectOnly("쿠팡")
	d.pass(time.Second)
	advert, came := d.stray(without, saying("광고 1588-1234")), d.now.UnixMilli()
	d.pass(time.Second)
	_, m := d.sms(saying("쿠팡 482913"))
	require.Equal(t, room.Matched, m.Result)
	a.leave(room.Cancelled)
	ended := d.now.UnixMilli()
	d.pass(time.Second)
	late, m := d.sms(saying("쿠팡 113355"), ago(time.Second+time.Millisecond))
	require.Equal(t, room.Late, m.Result)
	live := b.stand().Lease
	offered := d.stray(saying("code 90210"))

	recent := d.recent()
	require.Len(t, recent, 3, "what was matched is not among them")
	theirs := room.Candidate{Fence: former.Fence, Ticket: 1, Seller: "a", GrantedAt: former.GrantedAt,
		EndedAt: ended, AskedAt: asked}
	its := room.Candidate{Fence: live.Fence, Ticket: 2, Seller: "b", GrantedAt: live.GrantedAt,
		EndedAt: live.ExpiresAt, Live: true}
	at := func(l room.RecentMessage) room.RecentMessage {
		l.To = l.From + 1
		return l
	}
	require.Equal(t, at(room.RecentMessage{MessageID: advert, Text: smstext.Mask("광고 1588-1234"),
		Result: room.Unmatched, Reason: room.NotExpected,
		ReceivedAt: came, From: came, Could: []room.Candidate{theirs}}), recent[0])
	require.Contains(t, recent[1:], at(room.RecentMessage{MessageID: offered, Text: "code *****",
		Result: room.Unmatched, Reason: room.NotExpected, Code: true,
		ReceivedAt: d.now.UnixMilli(), From: d.now.UnixMilli(), Fence: live.Fence, Offered: true,
		Could: []room.Candidate{its, theirs}}))
	require.Contains(t, recent[1:],
		at(room.RecentMessage{MessageID: late, Text: "쿠팡 ******", Result: room.Late, Code: true,
			ReceivedAt: d.now.UnixMilli(), From: d.now.UnixMilli() - 1001, Ticket: 1, Fence: former.Fence,
			Could: []room.Candidate{theirs}}))

	b.leave(room.Cancelled)
	for _, l := range d.recent() {
		require.False(t, l.Offered, "it is offered no more")
	}
	d.pass(10 * time.Minute)
	require.Empty(t, d.recent(), "its text is forgotten")
}

func TestRecentMessageWithAnUnknownSecretHasNoText(t *testing.T) {
	d := newDesk(t, room.Config{})
	d.plain("a")
	d.stray(foreign)
	elsewhere, err := room.New(d.rdb, room.Config{}).RecentMessages(t.Context(), integration)
	require.NoError(t, err)
	require.Len(t, elsewhere, 1)
	require.Empty(t, elsewhere[0].Text)
	require.Empty(t, elsewhere[0].MessageID)
	require.Len(t, elsewhere[0].Could, 1)
}

func TestRecentMessagesAreReadInParts(t *testing.T) { onRedis(t, recentMessagesInParts) }

func recentMessagesInParts(t *testing.T, rdb redis.UniversalClient) {
	e := room.New(rdb, room.Config{})
	const many = 250
	for i := range many {
		match(t, e, sms(fmt.Sprint("m", i), 0, 0))
	}
	recent, err := e.RecentMessages(t.Context(), integration)
	require.NoError(t, err)
	require.Len(t, recent, many)
	glance, err := e.Glance(t.Context(), integration)
	require.NoError(t, err)
	require.Equal(t, many, glance.Nobodys)
}

// office is a desk with random leases and messages. It checks that support may assign a message to its
// candidates and to no other lease.
type office struct {
	*desk
	live    *seller
	fences  []int64
	sessons int
}

func (o *office) join(t *rapid.T) {
	if o.live != nil && o.live.stand().Status == room.Locked {
		return
	}
	o.sessons++
	name := fmt.Sprint("s", o.sessons)
	var s seller
	if rapid.Bool().Draw(t, "asks") {
		s = o.asker(name)
	} else {
		s = o.plain(name)
	}
	o.live, o.fences = &s, append(o.fences, s.stand().Fence)
}

func (o *office) ask(*rapid.T) {
	if o.live == nil || o.live.stand().Status != room.Locked {
		return
	}
	q := o.live.request()
	q.Filter.Contains = "쿠팡"
	_, err := o.engine.Expect(o.Context(), integration, q)
	require.True(o, err == nil || room.Refused(err), err)
}

func (o *office) leave(*rapid.T) {
	if o.live != nil && o.live.stand().Status == room.Locked {
		o.live.leave(room.Cancelled)
	}
}

func (o *office) message(t *rapid.T) {
	age := time.Duration(rapid.Int64Range(0, 900).Draw(t, "age")) * time.Second
	guard := time.Duration(rapid.Int64Range(0, 3).Draw(t, "guard")) * time.Second
	o.sms(ago(age), func(q *room.MatchRequest) {
		q.Keep, q.Guard, q.Foreign = true, guard, rapid.Bool().Draw(t, "foreign")
	})
}

// agree assigns every message to every lease, and has the ledger refuse it.
func (o *office) agree(*rapid.T) {
	for i := range min(len(o.recent()), 4) {
		message := o.recent()[i]
		if message.Result != room.Unmatched {
			continue
		}
		could := map[int64]bool{}
		for _, c := range message.Could {
			could[c.Fence] = true
		}
		for _, fence := range o.fences {
			_, err := o.assign(message.MessageID, fence, keep)
			if !could[fence] {
				require.ErrorIs(o, err, room.ErrNotPossible)
				continue
			}
			require.NoError(o, err)
			delete(could, fence)
			o.settle(message.MessageID, false)
		}
		require.Empty(o, could)
	}
}

func TestCandidatesAreTheLeasesThatAssignTakes(t *testing.T) { candidatesAreTaken(t, 25) }

func candidatesAreTaken(t *testing.T, orders int) {
	tries(t, orders)
	store := redistest.StartEmbedded(t)
	taken, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		store.FlushAll()
		o := &office{desk: newDeskOn(t, store, room.Config{})}
		rt.Repeat(map[string]func(*rapid.T){
			"join": o.join, "ask": o.ask, "leave": o.leave, "message": o.message,
			"pass": func(rt *rapid.T) {
				o.pass(time.Duration(rapid.Int64Range(0, 200).Draw(rt, "s")) * time.Second)
			},
		})
		o.agree(rt)
		for _, l := range o.recent() {
			taken, refused = taken+len(l.Could), refused+len(o.fences)-len(l.Could)
		}
	})
	require.Positive(t, taken)
	require.Positive(t, refused)
}
