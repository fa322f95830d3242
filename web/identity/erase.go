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

// Erase has every session that stands for a seller stand for nobody, on every replica, and says how many there were. The seller may come
// from the portal again, as anybody may.
func Erase(ctx context.Context, rdb redis.UniversalClient, names room.Names, seller string) (sessions int, err error) {
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
