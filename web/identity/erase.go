package identity

import (
	"context"
	_ "embed" // of the script

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

//go:embed erase.lua
var eraseSource string

var eraseScript = redis.NewScript(eraseSource)

// Erase unbinds every session of a seller, on every replica, and returns their number. The seller may return
// from the portal like any other.
func Erase(ctx context.Context, rdb redis.UniversalClient, names room.Names, seller string) (sessions int,
	err error) {
	err = room.EachKey(ctx, rdb, names.Key(prefix+"session:*"), func(key string) error {
		n, err := eraseScript.Run(ctx, rdb, []string{key}, seller).Int()
		if err != nil {
			return stored(err)
		}
		sessions += n
		return nil
	})
	return sessions, err
}
