package room_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// One replica observed that a seller was granted the lock, another one that its lease ended. Either may
// replay first.
func TestEndThatOneReplicaObservedIsNotLostForAnother(t *testing.T) {
	for name, first := range map[string]func(l *losing) (early, late *room.Engine){
		"the replica with fewer observations": func(l *losing) (early, late *room.Engine) {
			return l.one, l.two
		},
		"the replica with more observations": func(l *losing) (early, late *room.Engine) {
			return l.two, l.one
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLosing(t, room.Config{})
			goBack := l.remember()
			a := l.seller(l.one, "a")
			a.join()
			done := a.by(l.two).leave(room.Completed)
			goBack()
			early, late := first(l)
			for _, e := range []*room.Engine{early, late} {
				_, err := e.Expire(t.Context(), integration)
				require.NoError(t, err)
			}
			st := a.stand()
			require.Equal(t, [2]any{room.Ended, room.Completed}, [2]any{st.Status, st.Outcome})
			observed := l.journalled("told")
			require.Equal(t, room.Completed, observed[len(observed)-1].Outcome)
			require.Equal(t, done.Fence, observed[len(observed)-1].Fence)
			require.Equal(t, "a", observed[len(observed)-1].Seller)
		})
	}
}

// One replica observed that a seller waits, another one that it was granted the lock since. Either may replay
// first.
func TestGrantThatOneReplicaObservedIsJournalledThoughAnotherDidNot(t *testing.T) {
	for name, first := range map[string]func(l *losing) (early, late *room.Engine){
		"the replica with fewer observations": func(l *losing) (early, late *room.Engine) {
			return l.one, l.two
		},
		"the replica with more observations": func(l *losing) (early, late *room.Engine) {
			return l.two, l.one
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLosing(t, room.Config{})
			goBack := l.remember()
			holder, a := l.seller(l.two, "holder"), l.seller(l.one, "a")
			holder.join()
			a.join()
			holder.leave(room.Completed)
			granted := a.by(l.two).stand()
			require.Equal(t, room.Locked, granted.Status)
			goBack()
			early, late := first(l)
			for _, e := range []*room.Engine{early, late} {
				_, err := e.Expire(t.Context(), integration)
				require.NoError(t, err)
			}
			require.Equal(t, room.Lost, a.stand().Outcome)
			var fences []int64
			for _, r := range l.journalled("told") {
				if r.Ticket == granted.Ticket && r.Fence != 0 {
					fences = append(fences, r.Fence)
				}
			}
			require.Equal(t, []int64{granted.Fence}, fences)
		})
	}
}

// Redis loses all data, and once more while the lock is reserved for the lost lease, without a holder.
func TestLeaseWithoutAHolderIsReplayedAndNoPlaceOfIt(t *testing.T) {
	l := newLosing(t, room.Config{})
	observed := l.seller(l.one, "a").join()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	events := l.rdb.Subscribe(ctx, room.NamesOf(l.rdb, "").Events(integration))
	defer func() { _ = events.Close() }()
	_, err := events.Receive(ctx)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, l.rdb.FlushAll(ctx).Err())
		l.seller(l.one, "-").stand()
		msg, err := events.ReceiveMessage(ctx)
		require.NoError(t, err)
		event, err := room.ParseEvent(msg.Payload)
		require.NoError(t, err)
		require.Equal(t, observed.Fence, event.Lease.Fence)
		l.one.Observe(integration, &event)
	}
	for _, r := range l.journalled("told") {
		require.Equal(t, "a", r.Seller)
	}
	require.Equal(t, room.Waiting, l.seller(l.one, "b").join().Status)
}

// One replica observed the end of a place, another one the place after it. Redis has the room from before
// both, and either may replay first.
func TestTheLastObservedPlaceOfASessionIsItsOwn(t *testing.T) {
	for name, first := range map[string]func(l *losing) (early, late *room.Engine){
		"the replica with the end":        func(l *losing) (early, late *room.Engine) { return l.two, l.one },
		"the replica with the next place": func(l *losing) (early, late *room.Engine) { return l.one, l.two },
	} {
		for held, before := range map[string]func(l *losing){"held": func(*losing) {},
			"waited": func(l *losing) {
				l.seller(l.one, "holder").join()
			}} {
			t.Run(name+", "+held, func(t *testing.T) {
				l := newLosing(t, room.Config{})
				before(l)
				a := l.seller(l.two, "a")
				gone := a.join()
				goBack := l.remember()
				a.leave(room.Cancelled)
				l.seller(l.two, "b").join()
				next := a.by(l.one).join()
				require.Greater(t, next.Ticket, gone.Ticket)
				goBack()
				early, late := first(l)
				for _, e := range []*room.Engine{early, late} {
					_, err := e.Expire(t.Context(), integration)
					require.NoError(t, err)
				}
				for _, e := range []*room.Engine{early, late} {
					st := a.by(e).stand()
					require.Equal(t, []any{room.Ended, room.Lost, next.Ticket},
						[]any{st.Status, st.Outcome, st.Ticket})
				}
			})
		}
	}
}

// After a loss, a replica that observed less begins the new epoch and publishes it before the next call of
// the replica that observed more.
func TestObservationsAreReplayedThoughTheNewEpochsEventCameBefore(t *testing.T) {
	for name, next := range map[string]func(t *testing.T, l *losing){
		"and is called next": func(t *testing.T, l *losing) {
			_, err := l.two.Expire(t.Context(), integration)
			require.NoError(t, err)
		},
		"and only sweeps": func(t *testing.T, l *losing) {
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				_ = l.two.Sweep(ctx, nil, func(error) {})
			}()
			testproc.Until(t, time.Minute, func() error {
				for _, observed := range l.journalled("told") {
					if observed.Outcome == room.Cancelled {
						return nil
					}
				}
				return errors.New("it has not replayed its observations")
			})
			cancel()
			<-over
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLosing(t, room.Config{})
			sub := l.rdb.Subscribe(t.Context(), room.NamesOf(l.rdb, "").Events(integration))
			t.Cleanup(func() { require.NoError(t, sub.Close()) })
			_, err := sub.Receive(t.Context())
			require.NoError(t, err)
			goBack := l.remember()
			a, b := l.seller(l.one, "a"), l.seller(l.two, "b")
			a.join()
			b.join()
			done := b.leave(room.Cancelled)
			goBack()
			require.Equal(t, room.Lost, a.stand().Outcome)
			for event := range events(t, sub) {
				l.two.Observe(integration, event)
				if event.Epoch > done.Epoch {
					break
				}
			}
			next(t, l)
			require.Equal(t, room.Cancelled, b.by(l.one).stand().Outcome, "as it observed")
			require.Greater(t, l.seller(l.one, "c").join().Ticket, done.Ticket)
		})
	}
}

// events returns the room's events that a subscription receives, until the caller stops.
func events(t *testing.T, sub *redis.PubSub) iter.Seq[*room.Event] {
	return func(yield func(*room.Event) bool) {
		for msg := range sub.Channel() {
			event, err := room.ParseEvent(msg.Payload)
			require.NoError(t, err)
			if !yield(&event) {
				return
			}
		}
	}
}
