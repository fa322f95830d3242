package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func astray(q *room.MatchRequest) { q.Astray = true }

// A message to another number is no message of this room: it changes nothing that a later message depends on.
func TestMessageToAnotherNumberEndsNoTurnAndAnswersNoAsk(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	fence := a.stand().Fence
	a.expect()
	id, m := d.sms(astray, saying("인증번호 482913"))
	requireNone(t, room.WrongNumber, m, "")
	require.Equal(t, 1, a.stand().Lease.Open)
	require.Empty(t, messages(t, d.engine, a.session))
	recent, err := d.engine.RecentMessages(t.Context(), integration)
	require.NoError(t, err)
	require.Len(t, recent, 1, "support sees it")
	require.Equal(t, room.WrongNumber, recent[0].Reason)

	_, err = d.assign(id, fence)
	require.ErrorIs(t, err, room.ErrNotPossible, "nobody of this room is shown it by hand either")

	_, m = d.sms(saying("인증번호 482913"))
	require.Equal(t, room.Matched, m.Result, "the same text to the room's own number")
	require.False(t, m.Duplicate, "is the first of its text")
	require.Equal(t, room.Locked, b.stand().Status)
}

func TestMessageToAnotherNumberIsOfferedToNoHolder(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	d.pass(time.Second)
	_, m := d.sms(astray)
	requireNone(t, room.WrongNumber, m, "")
	require.Empty(t, messages(t, d.engine, a.session))
	d.plain("b")
	_, m = d.sms(astray)
	requireNone(t, room.WrongNumber, m, "")
	_, m = newDesk(t, room.Config{}).sms(astray)
	requireNone(t, room.WrongNumber, m, "also with the lock free")
}

// Two numbers of one phone get long messages of one sender, whose references may be the same.
func TestPartToAnotherNumberIsNoPartOfTheRoomsMessage(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	part := func(n int) func(*room.MatchRequest) {
		return func(q *room.MatchRequest) { q.Part = room.Part{Ref: "7", Parts: 2, Part: n} }
	}
	_, m := d.sms(astray, part(1), saying("다른 번호의 앞부분"))
	requireNone(t, room.WrongNumber, m, "")
	_, m = d.sms(part(2), saying("인증번호 482913"))
	require.Equal(t, room.Matched, m.Result)
}
