package lock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/locktest"
)

func Example() {
	server, err := miniredis.Run() // yours is a real one
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	locker := lock.New(rdb, lock.Config{})
	defer locker.Close()

	key, err := lock.NewKey("stock", "item", "456")
	if err != nil {
		panic(err)
	}
	err = lock.Do(context.Background(), locker, key, 5*time.Second, 10*time.Second,
		func(ctx context.Context, fence int64) error {
			fmt.Println("one at a time:", key, fence > 0)
			return nil
		})
	fmt.Println(err)
	// Output:
	// one at a time: stock:item:456 true
	// <nil>
}

// A caller that does not want to wait is told at once, which suits an answer of 409.
func ExampleLocker_noWait() {
	ctx := context.Background()
	var locker lock.Locker = locktest.NewFake()
	key, _ := lock.NewKey("book", "progress", "1")

	held, err := locker.TryLock(ctx, key, 0, 2*time.Minute)
	fmt.Println(held.Key, err)
	_, err = locker.TryLock(ctx, key, 0, 2*time.Minute)
	fmt.Println(errors.Is(err, lock.ErrNotAcquired))
	fmt.Println(locker.Unlock(ctx, held))
	// Output:
	// book:progress:1 <nil>
	// true
	// <nil>
}

// A database that knows the highest fence refuses a holder that woke up after its lease.
func ExampleDo_fence() {
	row := struct{ amount, fence int64 }{amount: 10}
	update := func(amount, fence int64) (rows int) { // UPDATE … SET amount, fence WHERE fence < $fence
		if row.fence >= fence {
			return 0
		}
		row.amount, row.fence = amount, fence
		return 1
	}
	ctx := context.Background()
	locker := locktest.NewFake()
	key, _ := lock.NewKey("stock", "item", "456")

	err := lock.Do(ctx, locker, key, 0, time.Minute, func(ctx context.Context, stale int64) error {
		locker.Expire(key) // the process was frozen for longer than its lease, and another went on
		_ = lock.Do(ctx, locker, key, 0, time.Minute, func(_ context.Context, fence int64) error {
			fmt.Println("rows:", update(9, fence))
			return nil
		})
		fmt.Println("rows:", update(99, stale))
		return nil
	})
	fmt.Println(errors.Is(err, lock.ErrNotHeld), row.amount)
	// Output:
	// rows: 1
	// rows: 0
	// true 9
}

// What was reserved first stays; who lost is told so.
func ExampleDo_reservation() {
	reserved := map[string]string{} // the table, with its unique constraint
	locker := locktest.NewFake()
	reserve := func(member, trainer, date, hour string) error {
		key, err := lock.NewKey("reservation", "trainer", trainer, date, hour)
		if err != nil {
			return err
		}
		return lock.Do(context.Background(), locker, key, 10*time.Second, 30*time.Second,
			func(context.Context, int64) error {
				if reserved[key.String()] != "" {
					return errors.New("somebody else was first: please choose another time")
				}
				reserved[key.String()] = member
				return nil
			})
	}
	fmt.Println(reserve("kim", "7", "2025-07-01", "14.00"))
	fmt.Println(reserve("lee", "7", "2025-07-01", "14.00"))
	fmt.Println(reserve("lee", "7", "2025-07-01", "15.00"))
	// Output:
	// <nil>
	// somebody else was first: please choose another time
	// <nil>
}
