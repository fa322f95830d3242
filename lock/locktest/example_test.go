package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/locktest"
)

// A unit test of a use case: the lock is taken, the store is away, the lease is over.
func ExampleFake() {
	fake := locktest.NewFake()
	key, _ := lock.NewKey("order", "123")
	placeOrder := func(meanwhile func()) error {
		return lock.Do(context.Background(), fake, key, 0, time.Minute, func(context.Context, int64) error {
			meanwhile()
			return nil
		})
	}
	fmt.Println(placeOrder(func() {}))
	fmt.Println(errors.Is(placeOrder(func() { fmt.Println(errors.Is(placeOrder(nil), lock.ErrNotAcquired)) }),
		nil))
	fmt.Println(errors.Is(placeOrder(func() { fake.Expire(key) }), lock.ErrNotHeld))
	fake.Break()
	fmt.Println(errors.Is(placeOrder(nil), lock.ErrStore))
	// Output:
	// <nil>
	// true
	// true
	// true
	// true
}
