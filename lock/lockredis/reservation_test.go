package lockredis_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock"
)

// errTaken is the error of the second caller.
var errTaken = errors.New("다른 사용자가 먼저 예약했어요. 다른 시간을 골라 주세요")

// slot is an hour of a trainer.
type slot struct {
	trainer    int
	date, time string
}

func (s slot) key() (lock.Key, error) {
	return lock.NewKey("reservation", "trainer", fmt.Sprint(s.trainer), s.date, s.time)
}

// gym books slots: the lock makes a second caller wait. The table's unique constraint keeps the rule without
// a lock, too.
type gym struct {
	locker lock.Locker
	db     *pgxpool.Pool
	wait   time.Duration
}

func newGym(t *testing.T, locker lock.Locker) *gym {
	t.Helper()
	db, err := pgxpool.New(t.Context(), pgtest.Start(t).URL())
	require.NoError(t, err)
	t.Cleanup(db.Close)
	_, err = db.Exec(t.Context(),
		`CREATE TABLE reservations (trainer int, date text, time text, member int, UNIQUE (trainer, date, time))`)
	require.NoError(t, err)
	return &gym{locker: locker, db: db, wait: 10 * time.Second}
}

func (g *gym) book(ctx context.Context, s slot, member int) error {
	key, err := s.key()
	if err != nil {
		return err
	}
	err = lock.Do(ctx, g.locker, key, g.wait, 30*time.Second, func(ctx context.Context, _ int64) error {
		return g.insertIfFree(ctx, s, member)
	})
	if errors.Is(err, lock.ErrNotAcquired) {
		return errTaken
	}
	return err
}

func (g *gym) insertIfFree(ctx context.Context, s slot, member int) error {
	var other int
	err := g.db.QueryRow(ctx, `SELECT member FROM reservations WHERE trainer = $1 AND date = $2 AND time = $3`,
		s.trainer, s.date, s.time).Scan(&other)
	if err == nil {
		return errTaken
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return g.insert(ctx, s, member)
}

func (g *gym) insert(ctx context.Context, s slot, member int) error {
	_, err := g.db.Exec(ctx, `INSERT INTO reservations VALUES ($1, $2, $3, $4)`, s.trainer, s.date, s.time,
		member)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.ConstraintName != "" {
		return errTaken
	}
	return err
}

func (g *gym) booked(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, g.db.QueryRow(t.Context(), `SELECT count(*) FROM reservations`).Scan(&n))
	return n
}

func TestOfManyAtOnceOneReservesAndTheOthersGetAnError(t *testing.T) { oneReserves(t, 10) }

func oneReserves(t *testing.T, members int) {
	t.Parallel()
	rdb := redistest.Shared(t)
	for name, wait := range map[string]time.Duration{"each waits its turn": 10 * time.Second,
		"nobody waits": 0} {
		t.Run(fmt.Sprintf("%d members, %s", members, name), func(t *testing.T) {
			g := newGym(t, newLocker(t, rdb))
			g.wait = wait
			afternoon := slot{trainer: members, date: "2025-07-01", time: name[:4] + "-14:00"}
			var booked, refused atomic.Int32
			var all sync.WaitGroup
			for member := range members {
				all.Go(func() {
					switch err := g.book(within(t), afternoon, member); {
					case err == nil:
						booked.Add(1)
					case errors.Is(err, errTaken):
						refused.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			all.Wait()
			require.EqualValues(t, 1, booked.Load())
			require.EqualValues(t, members-1, refused.Load())
			require.Equal(t, 1, g.booked(t))
		})
	}
}

func TestUniqueConstraintHoldsWhereTheLockDoesNot(t *testing.T) {
	t.Parallel()
	g := newGym(t, nil)
	afternoon := slot{trainer: 7, date: "2025-07-01", time: "14:00"}
	require.NoError(t, g.insert(t.Context(), afternoon, 1))
	require.ErrorIs(t, g.insert(t.Context(), afternoon, 2), errTaken, "as one would whose lease ran out "+
		"between looking and writing")
	require.Equal(t, 1, g.booked(t))
}

func TestOtherSlotsDoNotWait(t *testing.T) {
	t.Parallel()
	g := newGym(t, newLocker(t, redistest.Shared(t)))
	key, err := slot{trainer: 7, date: "2025-07-01", time: "14:00"}.key()
	require.NoError(t, err)
	_, err = g.locker.TryLock(within(t), key, 0, long)
	require.NoError(t, err)
	require.NoError(t, g.book(within(t), slot{trainer: 7, date: "2025-07-01", time: "15:00"}, 1))
	require.NoError(t, g.book(within(t), slot{trainer: 8, date: "2025-07-01", time: "14:00"}, 1))
}

func TestStaleHolderWakesAfterItsLeaseFreesNothingAndWritesNothing(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	l := newLocker(t, redistest.Shared(t))
	db, err := pgxpool.New(ctx, pgtest.Start(t).URL())
	require.NoError(t, err)
	t.Cleanup(db.Close)
	_, err = db.Exec(ctx, `CREATE TABLE stock (item int PRIMARY KEY, amount int, fence bigint DEFAULT 0);
		INSERT INTO stock VALUES (456, 10)`)
	require.NoError(t, err)
	write := func(amount int, fence int64) int64 {
		tag, err := db.Exec(ctx, `UPDATE stock SET amount = $1, fence = $2 WHERE item = 456 AND fence < $2`, amount,
			fence)
		require.NoError(t, err)
		return tag.RowsAffected()
	}
	key := newKey(t, "stock", "item", "456")

	stale := brief(ctx, t, l, key) // and its holder falls asleep
	held, err := l.TryLock(ctx, key, soon, long)
	require.NoError(t, err)
	require.EqualValues(t, 1, write(9, held.Fence))

	require.ErrorIs(t, l.Unlock(ctx, stale), lock.ErrNotHeld)
	live, err := l.IsHeld(ctx, held)
	require.NoError(t, err)
	require.True(t, live)
	require.Zero(t, write(99, stale.Fence))
}
