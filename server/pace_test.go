package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

var somePace = read.Pace{Hold: 40 * time.Second, Spread: 10 * time.Second}

// slowLedger answers after a time, or not before the caller gives up.
type slowLedger struct {
	after time.Duration
	err   error
	reads atomic.Int32
}

func (l *slowLedger) read(ctx context.Context, _ room.ID, _ int64) (read.Pace, error) {
	l.reads.Add(1)
	select {
	case <-time.After(l.after):
	case <-ctx.Done():
		return read.Pace{}, ctx.Err()
	}
	if l.err != nil {
		return read.Pace{}, l.err
	}
	return somePace, nil
}

func TestTheLedgerIsAskedForARoomsPaceOnceAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLedger{after: 10 * time.Millisecond}
		p := newPaces(l.read)
		for range 20 {
			go func() { require.Equal(t, somePace, p.of("a", 1)) }()
		}
		time.Sleep(time.Second)
		require.EqualValues(t, 1, l.reads.Load(), "for pages at one time")
		time.Sleep(paceFresh - 2*time.Second)
		require.Equal(t, somePace, p.of("a", 1))
		require.EqualValues(t, 1, l.reads.Load())
		time.Sleep(2 * time.Second)
		require.Equal(t, somePace, p.of("a", 1))
		require.EqualValues(t, 2, l.reads.Load())
		require.Equal(t, somePace, p.of("b", 1), "of another room")
		require.EqualValues(t, 3, l.reads.Load())
	})
}

func TestNoPageWaitsForADatabaseThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLedger{after: time.Hour}
		p := newPaces(l.read)
		waits := func(id room.ID) time.Duration {
			began := time.Now()
			require.Zero(t, p.of(id, 1))
			return time.Since(began)
		}
		require.Equal(t, pacePatience, waits("a"))
		require.Zero(t, waits("a"), "the read is as old already")
		for i := range 2 * pacesAtOnce {
			waits(room.ID(fmt.Sprint("r", i)))
		}
		require.EqualValues(t, pacesAtOnce, l.reads.Load(), "at one time")
		require.Zero(t, waits("another"))
		time.Sleep(paceTimeout)
		require.Zero(t, waits("a"), "after the failure")
		require.EqualValues(t, pacesAtOnce, l.reads.Load())
		synctest.Wait()
	})
}

func TestAReadThatComesLateIsTheNextPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLedger{after: time.Second}
		p := newPaces(l.read)
		require.Zero(t, p.of("a", 1))
		time.Sleep(time.Second)
		require.Equal(t, somePace, p.of("a", 1))
		require.EqualValues(t, 1, l.reads.Load())
	})
}

func TestAnUnreadableLedgerIsAskedAgainAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLedger{err: errors.New("away")}
		p := newPaces(l.read)
		for range 3 {
			require.Zero(t, p.of("a", 1))
		}
		require.EqualValues(t, 1, l.reads.Load())
		l.err = nil
		time.Sleep(paceRetry)
		require.Equal(t, somePace, p.of("a", 1))
	})
}

func TestPacesOfSoManyRoomsAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLedger{}
		p := newPaces(l.read)
		for i := range pacesKept + 1 {
			require.Equal(t, somePace, p.of(room.ID(fmt.Sprint("r", i)), 1))
		}
		require.Equal(t, pacesKept, p.known.Len())
		require.Equal(t, somePace, p.of("r1", 1))
		require.EqualValues(t, pacesKept+1, l.reads.Load())
		require.Equal(t, somePace, p.of("r0", 1), "the one that was asked for longest ago")
		require.EqualValues(t, pacesKept+2, l.reads.Load())
	})
}
