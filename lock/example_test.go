package lock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/locktest"
)

// A use case depends on the port alone; lockredis.New makes the real one.
func Example() {
	var locker lock.Locker = locktest.NewFake()

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

func ExampleNewKey() {
	for _, parts := range [][]string{{"order", "ORD-123"}, {"stock", "456", "warehouse", "1"},
		{"예약", "김코치", "14:00"}, {"order", ""}} {
		key, err := lock.NewKey(parts...)
		fmt.Println(key, errors.Is(err, lock.ErrInvalidKey))
	}
	// Output:
	// order:ORD-123 false
	// stock:456:warehouse:1 false
	// 예약:김코치:14%3A00 false
	//  true
}

func ExampleParseKey() {
	key, err := lock.ParseKey("예약:김코치:14%3A00")
	again, _ := lock.NewKey("예약", "김코치", "14:00")
	fmt.Println(key == again, err)
	_, err = lock.ParseKey("stock::456")
	fmt.Println(errors.Is(err, lock.ErrInvalidKey))
	// Output:
	// true <nil>
	// true
}

// A domain has key types of its own, which accept only its own ids.
func ExampleKey() {
	orderKey := func(id int64) (lock.Key, error) {
		if id <= 0 {
			return lock.Key{}, fmt.Errorf("order %d: ids are positive", id)
		}
		return lock.NewKey("order", fmt.Sprint(id))
	}
	fmt.Println(orderKey(123))
	_, err := orderKey(0)
	fmt.Println(err)
	// Output:
	// order:123 <nil>
	// order 0: ids are positive
}

// With a wait of 0, TryLock returns at once, which suits an answer of 409.
func ExampleLocker_noWait() {
	ctx := context.Background()
	var locker lock.Locker = locktest.NewFake()
	key, _ := lock.NewKey("book", "progress", "1")

	held, err := locker.TryLock(ctx, key, 0, 2*time.Minute)
	fmt.Println(held.Key, err)
	_, err = locker.TryLock(ctx, key, 0, 2*time.Minute)
	fmt.Println(errors.Is(err, lock.ErrNotAcquired))
	fmt.Println(locker.Unlock(ctx, held))
	fmt.Println(errors.Is(locker.Unlock(ctx, held), lock.ErrNotHeld))
	// Output:
	// book:progress:1 <nil>
	// true
	// <nil>
	// true
}

// One process begins, another goes on: the token is all that it needs.
func ExampleLocker_resume() {
	ctx := context.Background()
	var locker lock.Locker = locktest.NewFake()
	key, _ := lock.NewKey("import", "2025-07-01")
	held, err := locker.Lock(ctx, key, time.Minute)
	if err != nil {
		panic(err)
	}
	token := held.Token() // kept with the job, as a secret

	again, err := locker.Resume(ctx, token)
	fmt.Println(again.Key, again.Fence == held.Fence, err)
	before := again.ExpiresAt
	fmt.Println(locker.Extend(ctx, again, time.Minute), again.ExpiresAt.Sub(before))
	fmt.Println(locker.Unlock(ctx, again))
	_, err = locker.Resume(ctx, token)
	fmt.Println(errors.Is(err, lock.ErrNotHeld))
	// Output:
	// import:2025-07-01 true <nil>
	// <nil> 1m0s
	// <nil>
	// true
}

// A short lease for long work: after a crash the lock is free a few seconds later.
func ExampleKeepAlive() {
	locker := locktest.NewFake()
	key, _ := lock.NewKey("migration")
	// without a deadline, work that hangs would hold the lock for ever
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	err := lock.Do(ctx, locker, key, 0, 10*time.Second, func(ctx context.Context, _ int64) error {
		fmt.Println("migrating")
		return context.Cause(ctx) // ErrNotHeld, where the lease could not be renewed
	}, lock.KeepAlive)
	fmt.Println(err)
	// Output:
	// migrating
	// <nil>
}

// A database that stores the highest fence refuses a holder that woke up after its lease:
//
//	UPDATE stock SET amount = $1, fence = $2 WHERE item = 456 AND fence < $2
func ExampleDo_fence() {
	row := struct{ amount, fence int64 }{amount: 10}
	update := func(amount, fence int64) (rows int) {
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
		locker.Expire(key) // the process was frozen for longer than its lease, and another one went on
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

// The first reservation stays; the second caller gets an error.
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
	fmt.Println(reserve("kim", "7", "2025-07-01", "14:00"))
	fmt.Println(reserve("lee", "7", "2025-07-01", "14:00"))
	fmt.Println(reserve("lee", "7", "2025-07-01", "15:00"))
	// Output:
	// <nil>
	// somebody else was first: please choose another time
	// <nil>
}

func ExampleDoValue() {
	locker := locktest.NewFake()
	key, _ := lock.NewKey("invoice", "2025")
	last := 41
	number, err := lock.DoValue(context.Background(), locker, key, 5*time.Second, 10*time.Second,
		func(context.Context, int64) (int, error) {
			last++
			return last, nil
		})
	fmt.Println(number, err)
	// Output: 42 <nil>
}
