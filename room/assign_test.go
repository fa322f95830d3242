package room_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func (d *desk) assign(messageID string, fence int64, change ...func(*room.AssignRequest)) (room.Match,
	error) {
	q := room.AssignRequest{MessageID: messageID, Fence: fence, By: byKim}
	for _, f := range change {
		f(&q)
	}
	return d.engine.Assign(d.Context(), integration, q)
}

func (d *desk) assigned(messageID string, fence int64, change ...func(*room.AssignRequest)) room.Match {
	d.Helper()
	m, err := d.assign(messageID, fence, change...)
	require.NoError(d, err)
	return m
}

func (d *desk) settle(messageID string, agreed bool) {
	d.Helper()
	require.NoError(d, d.engine.SettleMatch(d.Context(), integration, messageID, 0, agreed))
}

// again returns the reply to the carrier's repeat of a message.
func (d *desk) again(messageID string) room.Match {
	d.Helper()
	return match(d.T, d.engine, sms(messageID, 0, 0))
}

func keep(q *room.AssignRequest) { q.Keep = true }

func foreign(q *room.MatchRequest) { q.Foreign = true }

// expectOnly asks for a message that contains a text which no other message has.
func (s seller) expectOnly(contains string) room.Expectation {
	s.t.Helper()
	q := s.request()
	q.Filter.Contains = contains
	x, err := s.engine.Expect(s.t.Context(), integration, q)
	require.NoError(s.t, err)
	return x
}

// stray sends a message that no lease has asked for.
func (d *desk) stray(change ...func(*room.MatchRequest)) string {
	d.Helper()
	id, m := d.sms(change...)
	require.Equal(d, room.Unmatched, m.Result)
	return id
}

func TestAssignedCodeEndsTheLiveLeaseAndIsShownOnceTheLedgerAgreed(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	lease := a.stand().Lease
	a.expectOnly("쿠팡")
	d.pass(time.Second)
	id, first := d.sms()
	requireNone(t, room.NotExpected, first, "it is not like what a asked for")
	d.pass(time.Second)

	m := d.assigned(id, lease.Fence)
	require.Equal(t, room.Match{Result: room.Matched, Ticket: 1, Fence: lease.Fence, Epoch: a.stand().Epoch,
		Granted: lease.GrantedAt,
		Ended:   d.now.UnixMilli(), At: d.now.UnixMilli(), Judge: true, Completes: true, Version: 4}, m)
	require.Equal(t, room.Completed, a.stand().Outcome)
	require.Equal(t, room.Locked, b.stand().Status, "handed on in the same step")
	require.Empty(t, messages(t, d.engine, a.session), "the ledger has not agreed")
	require.Equal(t, first, d.again(id), "the carrier still gets the first answer")

	events := listen(t, d.rdb)
	d.settle(id, true)
	require.Equal(t, id, messages(t, d.engine, a.session)[0].MessageID)
	require.False(t, messages(t, d.engine, a.session)[0].Late)
	require.Equal(t, []room.Note{{Message: a.session, Judged: true},
		{Session: a.session, Support: room.Assigned}}, notes(events()))
	require.Equal(t, first, d.again(id))
	b.expect() // not busy: a's ask has its answer
}

func TestAssignmentIsJournalledWithItsAgentAndReason(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	d.asker("b")
	lease := a.stand().Lease
	id := d.stray()
	d.assigned(id, lease.Fence)
	entries, err := d.engine.ReadJournal(t.Context(), integration, 100)
	require.NoError(t, err)
	last := entries[len(entries)-1].Records
	now := d.now.UnixMilli()
	require.Equal(t, room.Record{Type: "action", At: now, Who: "kim", Action: "assign", Reason: "because",
		Ticket: 1, Fence: lease.Fence, Seller: "a",
		MessageNote: room.MessageNote{MessageID: id}}, last[0])
	require.Equal(t, room.Record{Type: "assigned", At: now, Who: "kim", Reason: "because",
		Result: room.Matched, Code: true, Judge: true,
		Completes: true, Ticket: 1, Fence: lease.Fence, Seller: "a", GrantedAt: lease.GrantedAt, EndedAt: now,
		MessageNote: room.MessageNote{MessageID: id}}, last[1])
	require.Equal(t, []string{"ended", "granted"}, []string{last[2].Type, last[3].Type},
		"the end stands behind it")
}

func TestAssignedCodeAnswersTheAskThatFitsInTime(t *testing.T) {
	t.Run("the earliest that is open, and another keeps the lease going", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		a.expectOnly("쿠팡")
		d.pass(time.Second)
		a.expectOnly("쿠팡")
		id := d.stray()
		require.False(t, d.assigned(id, a.stand().Fence).Completes)
		lease := a.stand().Lease
		require.Equal(t, 2, lease.Asked)
		require.Equal(t, 1, lease.Open)
	})
	t.Run("one that was made later, where there is none before", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		d.pass(time.Second)
		id := d.stray()
		d.pass(time.Second)
		a.expect()
		require.True(t, d.assigned(id, a.stand().Fence, func(*room.AssignRequest) {}).Completes)
	})
	t.Run("an unknown one, if there is none", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		d.pass(time.Second)
		id := d.stray()
		require.False(t, d.assigned(id, a.stand().Fence, keep).Completes)
		lease := a.stand().Lease
		require.Equal(t, 1, lease.Asked)
		require.Zero(t, lease.Open)
	})
	t.Run("a lease that is not asking has its code", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a, b := d.plain("a"), d.asker("b")
		id := d.stray(foreign)
		require.True(t, d.assigned(id, a.stand().Fence).Completes)
		b.expect()
	})
	t.Run("a message without a code answers and ends nothing", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		a.expectOnly("쿠팡")
		id := d.stray(without)
		require.False(t, d.assigned(id, a.stand().Fence).Completes)
		require.Equal(t, 1, a.stand().Lease.Open)
		d.settle(id, true)
		require.Len(t, messages(t, d.engine, a.session), 1)
	})
}

func TestAssignedCodeDoesNotEndALeaseThatIsToBeKept(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.plain("a")
	id := d.stray(foreign)
	require.False(t, d.assigned(id, a.stand().Fence, keep).Completes)
	require.Equal(t, room.Locked, a.stand().Status)
	d.settle(id, true)
	require.Len(t, messages(t, d.engine, a.session), 1)
}

func TestMessageAssignedToALeaseThatIsOverIsLateAndChangesNoLease(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	fence := a.stand().Fence
	a.expectOnly("쿠팡")
	d.pass(time.Second)
	a.leave(room.Cancelled)
	ended := d.now.UnixMilli()
	b.busy()
	d.pass(time.Second)
	id := d.stray()

	m := d.assigned(id, fence)
	require.Equal(t, room.Late, m.Result)
	require.Equal(t, ended, m.Ended)
	require.False(t, m.Completes)
	require.Equal(t, room.Cancelled, a.stand().Outcome, "its outcome stays")
	require.Equal(t, room.Locked, b.stand().Status)
	require.Zero(t, b.stand().Lease.AskAfter, "a's ask has its answer")
	d.settle(id, true)
	require.True(t, messages(t, d.engine, a.session)[0].Late)
	require.Empty(t, messages(t, d.engine, b.session))
}

func TestAssignmentThatTheLedgerRefusesIsUnmatchedAgainAndItsAskIsOpen(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	fence := a.stand().Fence
	a.expectOnly("쿠팡")
	asked := d.now
	a.leave(room.Cancelled)
	d.pass(time.Second)
	id, first := d.sms()
	d.assigned(id, fence)
	require.Zero(t, b.stand().Lease.AskAfter)
	for range 2 {
		d.settle(id, false)
		require.Empty(t, messages(t, d.engine, a.session))
		require.Equal(t, asked.Add(30*time.Second).UnixMilli(), b.stand().Lease.AskAfter)
		require.Equal(t, first, d.again(id), "the first answer stays")
		recent := d.recent()
		require.Equal(t, room.Unmatched, recent[0].Result)
		require.Zero(t, recent[0].Fence)
	}
	require.Equal(t, room.Matched, d.assigned(id, b.stand().Fence).Result, "it may be another's")
	d.settle(id, true)
	require.Len(t, messages(t, d.engine, b.session), 1)
	d.settle(id, false)
	require.Empty(t, messages(t, d.engine, b.session), "a verdict that comes late withdraws it")
}

func TestAssignIsRefusedByName(t *testing.T) {
	d := newDesk(t, room.Config{})
	long := d.plain("long-ago")
	longAgo := long.stand().Fence
	long.leave(room.Cancelled)
	d.pass(5 * time.Minute)
	plain := d.plain("just-before")
	justBefore := plain.stand().Fence
	d.pass(time.Second)
	plain.leave(room.Cancelled)
	d.pass(31 * time.Second)
	asker := d.asker("asked-before")
	asked := asker.stand().Fence
	asker.expectOnly("쿠팡")
	d.pass(time.Second)
	asker.leave(room.Cancelled)
	d.pass(time.Second)
	id := d.stray()
	d.pass(time.Second)
	after := d.asker("after").stand().Fence
	for name, c := range map[string]struct {
		id    string
		fence int64
		want  error
	}{
		"unknown message":              {"none", asked, room.ErrNoMessage},
		"unknown fence":                {id, asked + 1, room.ErrStaleFence},
		"no fence":                     {id, 0, room.ErrStaleFence},
		"granted after it was sent":    {id, after, room.ErrNotPossible},
		"over before, and never asked": {id, justBefore, room.ErrNotPossible},
		"over long before":             {id, longAgo, room.ErrNotPossible},
	} {
		_, err := d.assign(c.id, c.fence)
		require.ErrorIs(t, err, c.want, name)
	}
	require.Empty(t, d.records("action"))
	require.Empty(t, d.records("assigned"))
	d.pass(9 * time.Minute)
	d.assigned(id, asked)
}

func TestAskOverTenMinutesBeforeCouldNotHaveCausedAMessage(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	fence := a.stand().Fence
	a.expectOnly("쿠팡")
	a.leave(room.Cancelled)
	d.pass(10 * time.Minute)
	last := d.stray()
	d.pass(time.Millisecond)
	_, err := d.assign(d.stray(), fence)
	require.ErrorIs(t, err, room.ErrNotPossible)
	d.assigned(last, fence)
}

func TestAssignInARoomThatWasNeverUsedWritesNothing(t *testing.T) {
	d := newDesk(t, room.Config{})
	_, err := d.assign("m", 1)
	require.ErrorIs(t, err, room.ErrNoMessage)
	require.Equal(t, []string{"{waitroom}:due", "{waitroom}:life", "{waitroom}:registered"}, d.store.Keys(),
		"only that a sweep has to look at it")
}

func TestMessageOfAnAssignedTextIsThatLeasesToo(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	fence := a.stand().Fence
	id := d.stray(saying("one text"))
	d.assigned(id, fence)
	d.settle(id, true)
	d.pass(time.Second)
	_, m := d.sms(saying("one text"))
	require.True(t, m.Duplicate)
	require.Equal(t, fence, m.Fence)
}

func TestHolderIsAskedNoMoreWhetherAnAssignedMessageIsItsOwn(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	former := a.stand().Fence
	a.expectOnly("쿠팡")
	d.pass(time.Second)
	d.sms(saying("쿠팡"))
	d.pass(time.Second)
	id := d.stray()
	require.Len(t, offers(t, d.engine, b.session), 1)
	events := listen(t, d.rdb)
	d.assigned(id, former)
	require.Empty(t, offers(t, d.engine, b.session))
	require.Contains(t, notes(events()), room.Note{Message: b.session})
	_, err := b.claim(id)
	require.ErrorIs(t, err, room.ErrNoMessage)
}

func TestRepeatedAssignmentReturnsWhatTheFirstReturned(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	fence := a.stand().Fence
	once := func(q *room.AssignRequest) { q.Request = "press" }
	_, err := d.assign("m1", fence, once)
	require.ErrorIs(t, err, room.ErrNoMessage)
	id := d.stray()
	first := d.assigned(id, fence, once)
	d.pass(time.Second)
	require.Equal(t, first, d.assigned(id, fence, once), "and a refusal was not kept")
	require.Len(t, d.records("assigned"), 1)
}

func TestLostReplyOfAnAssignmentIsOneAssignment(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	e := room.New(proxy.Client(), room.Config{Journal: 100})
	a := newSeller(t, e, "a")
	fence := a.join().Fence
	q := sms("m", 0, 0)
	q.Foreign = true
	match(t, e, q)
	lost := proxy.DropNextReply(mentions("because"))
	m, err := e.Assign(t.Context(), integration, room.AssignRequest{MessageID: "m", Fence: fence, By: byKim})
	<-lost
	require.NoError(t, err)
	require.True(t, m.Completes)
	require.Equal(t, 1, journalled(t, e, "assigned"))
	require.Equal(t, 1, journalled(t, e, "action"))
}

func TestAssignWorksOnEveryStore(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		fence := a.join().Fence
		b.join()
		q := sms("m", 0, 0)
		q.Foreign = true
		match(t, e, q)
		recent, err := e.RecentMessages(t.Context(), integration)
		require.NoError(t, err)
		require.Equal(t, fence, recent[0].Could[0].Fence)
		m, err := e.Assign(t.Context(), integration,
			room.AssignRequest{MessageID: "m", Fence: fence, By: byKim})
		require.NoError(t, err)
		require.Equal(t, room.Matched, m.Result)
		require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, true))
		require.Len(t, messages(t, e, a.session), 1)
		require.Equal(t, room.Locked, b.stand().Status)
	})
}
