package near_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
	"github.com/waitroom/waitroom/server/near"
)

const id room.ID = "integration"

// line is a room with a holder, in the test's memory.
type line struct {
	room.Roster
	reads    int
	recorded []ledger.NearPlace
	failing  error
	unwanted map[string]bool // sellers
}

func (l *line) Head(_ context.Context, _ room.ID, most int) (room.Roster, error) {
	l.reads++
	r := l.Roster
	r.Line = r.Line[:min(len(r.Line), most)]
	return r, nil
}

func (*line) Terms(room.ID) room.Terms { return room.Terms{Lease: 2 * time.Minute} }

// set makes a new version of the line with these waiters.
func (l *line) set(tickets ...int64) {
	l.Line = nil
	for _, ticket := range tickets {
		l.Line = append(l.Line, room.Waiter{Ticket: ticket, Seller: fmt.Sprint("s-", ticket), JoinedAt: ticket * 10})
	}
	l.Waiting = len(tickets)
	l.Version++
	l.Lease.GrantedAt, l.Lease.ExpiresAt = l.Now, l.Now+2*60*1000
}

// tickets returns the tickets that were recorded since the last call.
func (l *line) tickets() (list []int64) {
	for _, p := range l.recorded {
		list = append(list, p.Ticket)
	}
	l.recorded = nil
	return list
}

func (l *line) wanted(_ context.Context, sellers []string) (list []bool, err error) {
	for _, seller := range sellers {
		list = append(list, !l.unwanted[seller])
	}
	return list, nil
}

// watch runs do beside a Watch with a threshold; see shows it the room, and returns once it has looked.
func watch(t *testing.T, threshold string, do func(l *line, see func(room.View))) {
	parsed, err := near.Parse(threshold)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		l := &line{Roster: room.Roster{View: room.View{Room: wire.Room{Epoch: 1, Hold: time.Minute}, Lease: &room.Lease{}}}}
		w := near.New(near.Config{Rooms: l, Threshold: parsed, Wanted: l.wanted,
			Record: func(_ context.Context, _ room.ID, places []ledger.NearPlace) error {
				if l.failing == nil {
					l.recorded = append(l.recorded, places...)
				}
				return l.failing
			},
			Failed: func(error) {}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = w.Run(ctx) }()
		do(l, func(v room.View) { w.Seen(id, v); synctest.Wait() })
		cancel()
		synctest.Wait()
	})
}

func TestPlaceIsNearWhereFewAreAheadOfIt(t *testing.T) {
	watch(t, "2", func(l *line, see func(room.View)) {
		l.set(2, 3, 4, 5, 6)
		see(l.View)
		require.Equal(t, []int64{2, 3, 4}, l.tickets(), "none, one and two are ahead")
		l.set(3, 4, 5, 6)
		see(l.View)
		require.Equal(t, []int64{5}, l.tickets(), "the others are recorded")
		see(l.View)
		require.Equal(t, 2, l.reads, "the version is the same")
		l.Paused = true
		l.set(4, 5, 6)
		see(room.View{})
		require.Equal(t, int64(6), l.recorded[0].Ticket)
		require.Equal(t, 3, l.recorded[0].Position)
		require.Nil(t, l.recorded[0].Wait, "a pause may end at any time")
	})
}

func TestPlaceIsNearWhereItsEstimatedWaitIsShort(t *testing.T) {
	watch(t, "2m", func(l *line, see func(room.View)) {
		l.set(2, 3, 4)
		see(l.View)
		require.Equal(t, []int64{2, 3}, l.tickets(), "60 and 120 seconds; the third waits 180")
		l.Now += 59_000
		see(l.View)
		require.Equal(t, 1, l.reads, "121 seconds")
		l.Now += 1000
		see(l.View)
		require.Equal(t, int64(120), *l.recorded[0].Wait)
		require.Equal(t, []int64{4}, l.tickets(), "time alone brought it near")
		l.set(3, 4, 5, 6, 7)
		l.Paused = true
		see(l.View)
		require.Empty(t, l.tickets(), "in a paused room no wait is known")
	})
}

func TestNearPlaceIsRecordedLaterWhereThatFails(t *testing.T) {
	watch(t, "1", func(l *line, see func(room.View)) {
		l.set(2, 3)
		l.failing = errors.New("away")
		see(l.View)
		require.Empty(t, l.tickets())
		l.failing = nil
		see(l.View)
		require.Equal(t, []int64{2, 3}, l.tickets())
		l.set()
		see(l.View)
		see(room.View{})
		l.set(4)
		see(l.View)
		require.Equal(t, []int64{4}, l.tickets(), "after the line was empty")
	})
}

func TestThresholdIsANumberOfWaitersOrAWait(t *testing.T) {
	for text, want := range map[string]near.Threshold{"": {}, "1": {Ahead: 1}, "100": {Ahead: 100},
		"1s": {Wait: time.Second}, "2m": {Wait: 2 * time.Minute}, "1h": {Wait: time.Hour}} {
		got, err := near.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		require.Equal(t, text == "", got.Off())
	}
	for _, text := range []string{"0", "-1", "101", "999ms", "61m", "2 m", "near"} {
		got, err := near.Parse(text)
		require.ErrorContains(t, err, "leave it empty", text)
		require.True(t, got.Off())
	}
}

func TestNearPlaceIsRecordedOnceItsEventIsWanted(t *testing.T) {
	watch(t, "1", func(l *line, see func(room.View)) {
		l.unwanted = map[string]bool{"s-3": true}
		l.set(2, 3, 4)
		see(l.View)
		require.Equal(t, []int64{2}, l.tickets())
		see(l.View)
		require.Equal(t, 1, l.reads)
		l.unwanted = nil
		see(room.View{})
		require.Equal(t, []int64{3}, l.tickets(), "the seller chose it while the turn was near")
	})
}
