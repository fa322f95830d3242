package room_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// desk is a room on a store whose clock the test moves.
type desk struct {
	*testing.T
	store  *miniredis.Miniredis
	rdb    *redis.Client
	engine *room.Engine
	now    time.Time
	texts  int
}

func newDesk(t *testing.T, c room.Config) *desk { return newDeskOn(t, redistest.StartEmbedded(t), c) }

func newDeskOn(t *testing.T, store *miniredis.Miniredis, c room.Config) *desk {
	d := &desk{T: t, store: store, now: time.UnixMilli(1_800_000_000_000)}
	d.rdb = redis.NewClient(&redis.Options{Addr: d.store.Addr()})
	t.Cleanup(func() { require.NoError(t, d.rdb.Close()) })
	c.Journal, c.Recovery = 10_000, cmp.Or(c.Recovery, -1) // no recovery window: the clock stands still
	d.engine = room.New(d.rdb, c)
	d.pass(0)
	return d
}

func (d *desk) pass(after time.Duration) {
	d.now = d.now.Add(after)
	d.store.SetTime(d.now)
}

// asker joins a seller that announces its asks.
func (d *desk) asker(name string) seller {
	d.Helper()
	s := newSeller(d.T, d.engine, name)
	_, err := d.engine.Join(d.Context(), integration,
		room.JoinRequest{Session: s.session, Seller: name, Asks: true})
	require.NoError(d, err)
	return s
}

// plain joins a seller that does not announce its asks.
func (d *desk) plain(name string) seller {
	d.Helper()
	s := newSeller(d.T, d.engine, name)
	s.join()
	return s
}

func (s seller) request() room.ExpectRequest {
	return room.ExpectRequest{Session: s.session, Fence: s.stand().Fence}
}

func (s seller) expect() room.Expectation {
	s.t.Helper()
	x, err := s.engine.Expect(s.t.Context(), integration, s.request())
	require.NoError(s.t, err)
	return x
}

// busy requires that the number is busy for the seller, and returns until when (unix ms).
func (s seller) busy() int64 {
	s.t.Helper()
	x, err := s.engine.Expect(s.t.Context(), integration, s.request())
	require.ErrorIs(s.t, err, room.ErrNumberBusy)
	return x.AskAfter
}

// sms sends a message with a text of its own, sent just now. change may alter it.
func (d *desk) sms(change ...func(*room.MatchRequest)) (string, room.Match) {
	d.Helper()
	d.texts++
	q := sms(fmt.Sprint("m", d.texts), d.now.UnixMilli(), d.now.UnixMilli()+1)
	for _, f := range change {
		f(&q)
	}
	m := match(d.T, d.engine, q)
	if m.Judge {
		require.NoError(d, d.engine.SettleMatch(d.Context(), integration, q.MessageID, 0, true))
	}
	return q.MessageID, m
}

func ago(age time.Duration) func(*room.MatchRequest) {
	return func(q *room.MatchRequest) { q.From, q.To = q.From-age.Milliseconds(), q.To-age.Milliseconds() }
}

func from(sender string) func(*room.MatchRequest) {
	return func(q *room.MatchRequest) { q.Sender = sender }
}

func saying(text string) func(*room.MatchRequest) {
	return func(q *room.MatchRequest) { q.Shown.Text = text }
}

func without(q *room.MatchRequest) { q.Shown.Code = nil }

func (d *desk) records(kind string) (list []room.Record) {
	d.Helper()
	entries, err := d.engine.ReadJournal(d.Context(), integration, 10_000)
	require.NoError(d, err)
	for _, entry := range entries {
		for _, r := range entry.Records {
			if r.Type == kind {
				list = append(list, r)
			}
		}
	}
	return list
}

// If any message ended any lease, as in early versions, one stray message would shift every later code to the
// next seller.
func TestOneStrayMessageShiftsNoCode(t *testing.T) {
	for name, stray := range map[string]func(*room.MatchRequest){"an advert": without,
		"a code without an ask": func(*room.MatchRequest) {}} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			var line []seller
			for i := range 9 {
				line = append(line, d.asker(fmt.Sprint("s", i)))
			}
			d.pass(2 * time.Second)
			_, m := d.sms(stray)
			requireNone(t, room.NotExpected, m, "no session has asked yet")
			for i, s := range line {
				d.pass(4 * time.Second)
				s.expect()
				d.pass(3 * time.Second)
				_, m := d.sms()
				require.Equal(t, room.Matched, m.Result, "code %d", i)
				require.Equal(t, int64(i+1), m.Ticket)
				require.Equal(t, room.Completed, s.stand().Outcome)
			}
		})
	}
}

func TestLateCodeGoesToTheLeaseThatAskedForIt(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	d.pass(time.Second)
	a.expect()
	first := a.stand().Fence
	d.pass(time.Second)
	a.leave(room.Cancelled)
	until := d.now.Add(30 * time.Second).UnixMilli()
	require.Equal(t, until, b.busy(), "30 s after a's lease ended: it may have pressed until then")
	require.Equal(t, until, b.stand().Lease.AskAfter)
	d.pass(20 * time.Second)
	id, m := d.sms()
	require.Equal(t, room.Late, m.Result)
	require.Equal(t, first, m.Fence)
	require.Equal(t, room.Locked, b.stand().Status, "the current holder is unchanged")
	require.Zero(t, b.stand().Lease.AskAfter, "and may ask, now that the code has come")
	b.expect()
	_, m = d.sms()
	require.Equal(t, b.name, d.records("message")[1].Seller)
	require.Equal(t, room.Matched, m.Result)

	shown := messages(t, d.engine, a.session)
	require.Len(t, shown, 1)
	require.Equal(t, id, shown[0].MessageID)
	require.True(t, shown[0].Late)
	d.pass(10*time.Minute + time.Second)
	require.Empty(t, messages(t, d.engine, a.session))
}

// Seller a's slow code, sent over a quarantine after a's ask, ended b's turn. The next code may be b's own
// and must not go to a.
func TestDisplacedCodeIsUnmatched(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Cancelled)
	d.pass(31 * time.Second)
	b.expect()
	d.pass(2 * time.Second)
	_, m := d.sms()
	require.Equal(t, b.name, d.records("message")[0].Seller, "it was a's, but that is not known")
	require.Equal(t, room.Matched, m.Result)
	d.pass(2 * time.Second)
	_, m = d.sms()
	requireNone(t, room.Ambiguous, m, "a's, or b's own")
	require.Empty(t, messages(t, d.engine, a.session))
	d.pass(28 * time.Second)
	_, m = d.sms(without)
	require.Equal(t, room.Late, m.Result, "past b's quarantine it is a's alone")
	d.asker("c")
	_, m = d.sms(without)
	requireNone(t, room.Ambiguous, m, "a has no right to what is sent in another's lease by now")
}

// The sellers a and b ask for codes of different senders, so neither's code can be the answer to the other's
// ask.
func TestCodeOfASenderThatTheOtherDidNotAskForIsNotDisplaced(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.only(shop)
	first := a.stand().Fence
	a.leave(room.Cancelled)
	d.pass(31 * time.Second)
	b.only(other)
	d.pass(2 * time.Second)
	_, m := d.sms(from(other))
	require.Equal(t, room.Matched, m.Result)
	d.pass(2 * time.Second)
	_, m = d.sms(from("15889999"))
	requireNone(t, room.NoLease, m, "no session asked for it")
	_, m = d.sms(from(shop))
	require.Equal(t, room.Late, m.Result)
	require.Equal(t, first, m.Fence)
	d.asker("c")
	_, m = d.sms(from("15889999"))
	requireNone(t, room.NotExpected, m, "no session asked for it")
}

// Seller a rejects its code, so two asks are open within one quarantine, each for another sender's codes.
func TestCodeIsOfTheAskThatItFitsThoughAnEarlierOneIsOpenAgain(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.only(shop)
	first := a.stand().Fence
	d.pass(time.Second)
	id, m := d.sms(from(shop))
	require.Equal(t, room.Matched, m.Result)
	b.only(other)
	require.NoError(t, d.engine.Reject(t.Context(), integration, a.session, first, id))
	d.pass(time.Second)
	_, m = d.sms(from(other))
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, room.Completed, b.stand().Outcome)
}

// A lease asks twice, and the code of its second ask arrives before that of the first.
func TestCodesOfOneLeaseMayComeInAnyOrder(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	fence := a.stand().Fence
	d.pass(20 * time.Second)
	a.expect()
	d.pass(5 * time.Second)
	d.sms()
	a.leave(room.Cancelled)
	d.asker("b")
	d.pass(5 * time.Second)
	_, m := d.sms(ago(15 * time.Second))
	require.Equal(t, room.Late, m.Result)
	require.Equal(t, fence, m.Fence)
}

func TestMessageOfALeaseThatIsNotAskingIsAmbiguousWhileAnothersCodeMayCome(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.plain("b")
	d.pass(time.Second)
	a.expect()
	a.leave(room.Cancelled)
	require.Equal(t, d.now.Add(30*time.Second).UnixMilli(), b.stand().Lease.AskAfter,
		"known, though it does not ask")
	d.pass(30*time.Second - time.Millisecond)
	_, m := d.sms()
	requireNone(t, room.Ambiguous, m, "within the quarantine of a's ask")
	d.pass(time.Millisecond)
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, room.Completed, b.stand().Outcome)
}

// Rule 4 of docs/matching.md: only a code answers an ask or ends a lease.
func TestMessageWithoutACodeIsShownAndEndsNothing(t *testing.T) {
	for name, join := range map[string]func(*desk, string) seller{"asking": (*desk).asker,
		"not asking": (*desk).plain} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a := join(d, "a")
			if name == "asking" {
				a.expect()
			}
			before := a.stand()
			_, m := d.sms(without)
			require.Equal(t, room.Matched, m.Result)
			require.False(t, m.Completes)
			after := a.stand()
			require.Equal(t, before.Lease, after.Lease)
			require.Equal(t, before.Version, after.Version)
			require.Len(t, messages(t, d.engine, a.session), 1)
			_, m = d.sms()
			require.True(t, m.Completes)
			require.Equal(t, room.Completed, a.stand().Outcome)
		})
	}
}

func TestFilterKeepsOtherMessagesOut(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	q := a.request()
	q.Filter = room.Filter{From: []string{"+82 2-1588-1234", "COUPANG"}, Contains: "쿠팡"}
	_, err := d.engine.Expect(d.Context(), integration, q)
	require.NoError(t, err)
	for why, change := range map[string]func(*room.MatchRequest){
		"another sender": func(q *room.MatchRequest) { q.Sender, q.Shown.Text = "1577-0000", "쿠팡 482913" },
		"another text":   func(q *room.MatchRequest) { q.Sender, q.Shown.Text = "02-1588-1234", "옥션 482913" },
	} {
		_, m := d.sms(change)
		requireNone(t, room.NotExpected, m, why)
	}
	require.Len(t, offers(t, d.engine, a.session), 2, "its own filter alone refused them")
	_, m := d.sms(from("coupang"), saying("[쿠팡] 482913"), func(q *room.MatchRequest) { q.Keep = true })
	require.Equal(t, room.Matched, m.Result, "a sender in letters, whatever their case")
	_, m = d.sms(from("0215881234"), saying("[쿠팡] 482914"))
	require.Equal(t, room.Matched, m.Result, "the same number, written otherwise")

	stranger := room.New(d.rdb, room.Config{}) // with another secret: it cannot open the filter
	fresh := d.asker("b")
	q = fresh.request()
	q.Filter = room.Filter{Contains: "쿠팡"}
	_, err = d.engine.Expect(d.Context(), integration, q)
	require.NoError(t, err)
	unread := sms("unread", d.now.UnixMilli(), d.now.UnixMilli()+1)
	unread.Shown.Text = "쿠팡 777777"
	requireNone(t, room.NotExpected, match(t, stranger, unread), "the filter cannot be opened")
	for _, bad := range []room.Filter{{From: make([]string, 11)}, {From: []string{""}},
		{Contains: string(make([]rune, 65))}} {
		q.Filter = bad
		_, err := d.engine.Expect(d.Context(), integration, q)
		require.ErrorIs(t, err, room.ErrInvalidExpect)
	}
}

func TestForeignSendersMessageIsUnmatchedAndNotOffered(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.plain("a")
	_, m := d.sms(func(q *room.MatchRequest) { q.Foreign = true })
	requireNone(t, room.NotExpected, m, "also where the lease is not asking")
	require.Equal(t, room.Locked, a.stand().Status)
	b := newDesk(t, room.Config{Required: true})
	b.plain("b")
	b.sms(func(q *room.MatchRequest) { q.Foreign = true })
	require.Equal(t, room.NotExpected, room.Reason(b.records("message")[0].Reason))
}

// The list of accepted senders may change between a message and its repeat, and between parts.
func TestRepeatOrPartOfASenderNoLongerAcceptedIsUnmatched(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	a.expect()
	same := func(q *room.MatchRequest) { q.Shown.Text, q.Keep = "인증번호 482913", true }
	part := func(n int) func(*room.MatchRequest) {
		return func(q *room.MatchRequest) { q.Part, q.Keep = room.Part{Ref: "r", Parts: 2, Part: n}, true }
	}
	_, m := d.sms(same)
	require.Equal(t, room.Matched, m.Result)
	_, m = d.sms(part(1))
	require.Equal(t, room.Matched, m.Result)
	d.pass(time.Second)
	for _, foreigner := range []func(*room.MatchRequest){same, part(2)} {
		_, m = d.sms(foreigner, foreign)
		requireNone(t, room.NotExpected, m, "")
		require.False(t, m.Duplicate)
	}
	d.pass(time.Second)
	_, m = d.sms(same)
	require.True(t, m.Duplicate, "of one that it takes it is the same message")
}
