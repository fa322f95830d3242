package lockredis_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockredis"
)

func Example() {
	server, err := miniredis.Run() // yours is a real one
	if err != nil {
		panic(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	locker := lockredis.New(rdb, lockredis.Config{Logger: slog.Default()})
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
