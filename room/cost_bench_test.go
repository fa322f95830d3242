package room_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

var commandTimes = regexp.MustCompile(`cmdstat_(fcall|evalsha):calls=(\d+),usec=(\d+)`)

// BenchmarkJoinAndLeaveInRedis reports what Redis spends on a join and a leave (µs, by its own count), beside the least script of a lock.
func BenchmarkJoinAndLeaveInRedis(b *testing.B) {
	least := redis.NewScript(`redis.call('SET',KEYS[1],ARGV[1],'NX','PX',120000) return redis.call('DEL',KEYS[1])`)
	ways := map[string]room.Config{"functions": {Journal: 100_000}, "scripts": {Journal: 100_000, Scripts: true}}
	for way, cfg := range ways {
		b.Run(way, func(b *testing.B) {
			rdb := redistest.Start(b).Client()
			e := room.New(rdb, cfg)
			ctx := b.Context()
			pair := func(i int) {
				session, id := room.NewSession(), room.ID("b"+strconv.Itoa(i%200))
				_, err := e.Join(ctx, id, room.JoinRequest{Session: session, Seller: "s" + strconv.Itoa(i)})
				require.NoError(b, err)
				_, err = e.Leave(ctx, id, room.LeaveRequest{Session: session, Outcome: room.Completed})
				require.NoError(b, err)
			}
			for i := range 200 {
				pair(i)
			}
			require.NoError(b, rdb.ConfigResetStat(ctx).Err())
			for i := range b.N {
				pair(i)
			}
			took := redisTime(b, rdb)
			require.NoError(b, rdb.ConfigResetStat(ctx).Err())
			for range b.N {
				require.NoError(b, least.Run(ctx, rdb, []string{"k"}, "v").Err())
			}
			b.ReportMetric(took/float64(b.N), "µs/pair")
			b.ReportMetric(redisTime(b, rdb)/float64(b.N), "µs/least")
			b.ReportMetric(took/redisTime(b, rdb), "×least")
		})
	}
}

// redisTime is how long Redis has worked on functions and scripts (µs).
func redisTime(b *testing.B, rdb *redis.Client) (sum float64) {
	for _, found := range commandTimes.FindAllStringSubmatch(rdb.Info(b.Context(), "commandstats").Val(), -1) {
		us, err := strconv.ParseFloat(found[3], 64)
		require.NoError(b, err)
		sum += us
	}
	return sum
}
