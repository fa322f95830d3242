package lockredis_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/locktest"
)

// stock is a use case that depends on the interface lock.Locker alone.
type stock struct {
	locker lock.Locker
	left   map[string]int
}

func stockKey(product, warehouse int) (lock.Key, error) {
	return lock.NewKey("stock", fmt.Sprint(product), "warehouse", fmt.Sprint(warehouse))
}

func (s *stock) take(ctx context.Context, product, warehouse, amount int) error {
	key, err := stockKey(product, warehouse)
	if err != nil {
		return err
	}
	return lock.Do(ctx, s.locker, key, soon, soon, func(context.Context, int64) error {
		left := s.left[key.String()]
		if left < amount {
			return errMine
		}
		s.left[key.String()] = left - amount
		return nil
	})
}

func TestStockOfOneWarehouseIsTakenOneAtATime(t *testing.T) {
	t.Parallel()
	lockers := map[string]func(*testing.T) lock.Locker{
		"redis": func(t *testing.T) lock.Locker { return newLocker(t, redistest.Shared(t)) },
		"fake":  func(*testing.T) lock.Locker { return locktest.NewFake() },
	}
	for name, locker := range lockers {
		t.Run(name, func(t *testing.T) {
			s := &stock{locker(t), map[string]int{"stock:456:warehouse:1": 20}}
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if err := s.take(within(t), 456, 1, 1); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			require.Zero(t, s.left["stock:456:warehouse:1"])
			require.ErrorIs(t, s.take(within(t), 456, 1, 1), errMine)
		})
	}
}

func TestWarehousesAndOrdersOfTheSameNumberAreApart(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	l := newLocker(t, redistest.Shared(t))
	keys := []lock.Key{
		newKey(t, "stock", "456", "warehouse", "1"), newKey(t, "stock", "456", "warehouse", "2"),
		newKey(t, "stock", "item", "456"), newKey(t, "order", "456"), newKey(t, "payment", "456"),
	}
	for _, key := range keys {
		_, err := l.TryLock(ctx, key, 0, long)
		require.NoError(t, err, key)
	}
}
