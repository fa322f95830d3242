package ledger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// assign returns the record of support's assignment of a message to the live lease, which ends the lease.
func assign(messageID string, ticket int64) room.Record {
	r := claim(messageID, ticket)
	r.Type, r.Who, r.Reason = "assigned", "kim", "she read it to me"
	return r
}

// assignLate is assign for an ended lease, at a given time.
func assignLate(messageID string, ticket, at int64) room.Record {
	r := assign(messageID, ticket)
	r.At, r.Result, r.Completes = at, room.Late, false
	return r
}

// over returns the records of a lease that ended without a message.
func over(ticket int64) []room.Record {
	return []room.Record{joined(ticket), granted(ticket), ended(ticket, room.Expired)}
}

const verdicts = `SELECT message_id || ' ' || kind || ' ' || fence || ' ' || verdict FROM attributions
	ORDER BY at, kind`

func TestSupportGivesAMessageToTheLiveLeaseAsItsHolderWould(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		one, two := b.open(t), b.open(t)
		first := unmatched("m", 15, room.NotExpected)
		b.write(1, joined(1), granted(1), first)
		b.write(1, assign("m", 1), ended(1, room.Completed))
		b.journal.failTrim = func() bool { return true }
		require.ErrorIs(t, one.Drain(t.Context(), here), errLost)
		b.journal.failTrim = nil
		agreed, err := two.Judge(t.Context(), here, 1, assign("m", 1))
		require.NoError(t, err)
		require.True(t, agreed)

		require.Equal(t, []string{"m true", "m true"}, b.journal.verdicts(), "also where it was applied before")
		require.Equal(t, []string{"m assigned 1000 agreed"}, column(t, one.DB(), verdicts))
		require.Equal(t, []string{"kim she read it to me"}, column(t, one.DB(), `SELECT who || ' ' || reason
			FROM attributions`))
		require.Equal(t, []string{"m 1000 1"}, column(t, one.DB(), `SELECT message_id || ' ' || fence || ' ' ||
			completes FROM verifications`))
		require.Len(t, dataOf(t, one, "sms.matched"), 1)
		known, err := one.Receive(t.Context(), here, first.MessageNote)
		require.NoError(t, err)
		require.Equal(t, room.Match{Result: room.Unmatched, Reason: room.NotExpected, Epoch: 1, At: 15}, *known,
			"the first answer stays")
		p, err := one.History(t.Context(), here, read.Filter{})
		require.NoError(t, err)
		require.Equal(t, room.Matched, room.Result(p.Messages[0].Result), "but it belongs there now")
		require.Zero(t, count(t, one, "incidents")+count(t, one, "parked"))
	})
}

func TestWhatSupportGivesToALeaseThatIsOverIsARecordAndVerifiesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, over(1)...)
		b.write(1, unmatched("m", 25, room.NoLease))
		b.life(3) // is settled, and has a higher fence
		late := assignLate("m", 1, 50)
		b.write(1, late)
		for range 2 { // from the journal, and once that has it no longer
			agreed, err := l.Judge(t.Context(), here, 1, late)
			require.NoError(t, err)
			require.True(t, agreed)
		}
		require.Equal(t, []string{"m-3 true", "m true", "m true"}, b.journal.verdicts())
		require.Equal(t, []string{"m assigned 1000 agreed"}, column(t, l.DB(), verdicts))
		require.Equal(t, []string{"m-3"}, column(t, l.DB(), `SELECT message_id FROM verifications`))
		require.Len(t, dataOf(t, l, "sms.matched"), 1)
		require.Equal(t, []string{"expired"}, column(t, l.DB(), `SELECT outcome FROM leases WHERE fence = 1000`))
		require.Zero(t, count(t, l, "incidents")+count(t, l, "parked"))
	})
}

func TestAnAssignmentThatBreaksARuleIsRefused(t *testing.T) {
	sent := func(at int64) room.Record { return unmatched("m", at+1, room.Ambiguous) }
	soon, early, cameLate := granted(2), assignLate("m", 2, 5000), matched("m", 1)
	soon.GrantedAt = 3000
	early.GrantedAt, early.EndedAt = 3000, 4000
	cameLate.Result, cameLate.Judge = room.Late, false
	one := []room.Record{joined(1), granted(1)}
	two := []room.Record{joined(2), granted(2)}
	gone := []room.Record{sent(15), assignLate("m", 1, 19)} // to a lease that is over
	for name, c := range map[string]struct {
		before []room.Record
		bad    room.Record
		why    string
	}{
		"a live one that was passed": {append(two, joined(3), granted(3)), assign("m", 2),
			"below one that was granted"},
		"a live one that is over": {over(2), assign("m", 2), "over by something else: expired"},
		"one that is no lease":    {nil, assignLate("m", 0, 60), "lease is not one"},
		"one verified for another": {append(one, matched("m", 1)), assignLate("m", 2, 60),
			"verified for a lease already"},
		"one claimed for another": {append(one, sent(15), claim("m", 1)), assignLate("m", 2, 60),
			"verified for a lease already"},
		"one assigned to another that is over": {gone, assignLate("m", 2, 60), "given to a lease already"},
		"a live one, of another that is over":  {append(gone, two...), assign("m", 2), "given to a lease already"},
		"a claim of one assigned":              {append(gone, two...), claim("m", 2), "given to a lease already"},
		"one that came late for another": {append(one, cameLate), assignLate("m", 2, 60),
			"came for a lease already"},
		"one sent before its lease": {[]room.Record{joined(2), soon, sent(2000)},
			assignLate("m", 2, 5000), "sent before its lease was granted"},
		"one sent before, by the room's word": {[]room.Record{sent(2000)}, early,
			"sent before its lease was granted"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				l := b.open(t)
				b.write(1, c.before...)
				b.write(1, c.bad)
				for range 2 {
					agreed, err := l.Judge(t.Context(), here, 1, c.bad)
					require.NoError(t, err)
					require.False(t, agreed)
				}
				verdicts := b.journal.verdicts()
				require.Equal(t, []string{"m false", "m false"}, verdicts[len(verdicts)-2:])
				require.Equal(t, []string{"match_refused m"}, column(t, l.DB(), `SELECT kind || ' ' || subject
					FROM incidents`))
				require.Contains(t, b.log.String(), c.why)
				require.LessOrEqual(t, count(t, l, "attributions WHERE verdict = 'agreed'"), 1)
				require.Zero(t, count(t, l, "parked"))
			})
		})
	}
}

func TestAMessageMayHaveBeenSentInTheSecondOfItsLeasesGrantOrTheGuardBefore(t *testing.T) {
	for name, c := range map[string]struct {
		guard         time.Duration
		sent, granted int64
		agreed        bool
	}{
		"the same second":             {0, 2001, 3000, true},
		"the second before":           {0, 2000, 3000, false},
		"within the guard":            {2 * time.Second, 1001, 4000, true},
		"before the guard":            {2 * time.Second, 1000, 4000, false},
		"nobody knows when":           {0, 0, 3000, true},
		"after the lease, as may be":  {0, 9000, 3000, true},
		"a carrier with a fast clock": {0, 90_000, 3000, true},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				conf := b.config()
				conf.Guard = c.guard
				l := b.openWith(t, conf)
				m, late := unmatched("m", 4000, room.Ambiguous), assignLate("m", 2, 5000)
				m.SentAt, late.GrantedAt, late.EndedAt = c.sent, c.granted, c.granted+500
				b.write(1, m, late)
				agreed, err := l.Judge(t.Context(), here, 1, late)
				require.NoError(t, err)
				require.Equal(t, c.agreed, agreed)
			})
		})
	}
}

func TestARejectedAssignmentMayBeMadeToAnotherLease(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		reject := rejected("m", 1)
		reject.At = 50
		b.write(1, unmatched("m", 15, room.Ambiguous), assignLate("m", 1, 40), assignLate("m", 2, 41))
		b.write(1, reject)
		b.journal.failTrim = func() bool { return true }
		require.ErrorIs(t, l.Drain(t.Context(), here), errLost)
		b.journal.failTrim = nil
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"m true", "m false", "m true", "m false"}, b.journal.verdicts(),
			"what was said is not judged anew")
		b.write(1, assignLate("m", 2, 60))
		b.write(1, assignLate("m", 1, 70))
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"m true", "m false"}, b.journal.verdicts()[4:], "what is said again is")
		require.Equal(t, []string{"m rejected 1000 ", "m assigned 2000 agreed", "m assigned 1000 refused"},
			column(t, l.DB(), verdicts))
	})
}

func TestAHolderThatRejectedByMistakeIsGivenItsMessageBack(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		one, two := b.open(t), b.open(t)
		keep := assign("m", 1)
		keep.Completes, keep.EndedAt, keep.At = false, 16, 16
		reject := rejected("m", 1)
		reject.At = 17
		again := keep
		again.EndedAt, again.At = 18, 18
		b.write(1, joined(1), granted(1), unmatched("m", 15, room.Ambiguous), keep)
		b.write(1, reject)
		b.write(1, again)
		b.journal.failTrim = func() bool { return true }
		require.ErrorIs(t, one.Drain(t.Context(), here), errLost)
		b.journal.failTrim = nil
		require.NoError(t, two.Drain(t.Context(), here))
		require.Equal(t, []string{"m true", "m true", "m true", "m true"}, b.journal.verdicts())
		require.Equal(t, []string{"16 17", "18 stands"}, column(t, one.DB(),
			`SELECT ended_at || ' ' || COALESCE(CAST(voided_at AS TEXT), 'stands') FROM verifications ORDER BY id`))
		require.Equal(t, []string{"m rejected 1000 ", "m assigned 1000 agreed"}, column(t, one.DB(), verdicts))

		b.write(1, assignLate("m", 1, 90)) // the room has forgotten
		require.NoError(t, two.Drain(t.Context(), here))
		require.Equal(t, "m true", b.journal.verdicts()[4], "it is that lease's")
		require.Equal(t, 2, count(t, one, "verifications"))
		require.Zero(t, count(t, one, "parked"))
	})
}

// A claim and an assignment of one message, to one lease, are two matches.
func TestOfAClaimAndAnAssignmentOnlyTheFirstIsAgreedTo(t *testing.T) {
	for name, both := range map[string][]room.Record{
		"the claim came first":      {claim("m", 1), assign("m", 1)},
		"the assignment came first": {assign("m", 1), claim("m", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				l := b.open(t)
				for i := range both {
					both[i].Completes = false
				}
				b.write(1, joined(1), granted(1), unmatched("m", 15, room.NotExpected), both[0])
				b.write(1, both[1])
				for range 2 { // from the journal, and once that has them no longer
					for i, want := range []bool{true, false} {
						agreed, err := l.Judge(t.Context(), here, 1, both[i])
						require.NoError(t, err)
						require.Equal(t, want, agreed)
					}
				}
				require.Equal(t, []string{"m true", "m false", "m false", "m true", "m false"}, b.journal.verdicts())
				require.Equal(t, 1, count(t, l, "verifications"))
			})
		})
	}
}
