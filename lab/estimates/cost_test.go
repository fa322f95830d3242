package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// rules are what the end of a lease would do with a room's state, d being how long it was held, in ms. Each
// script does it a hundred times.
var rules = []struct{ name, fields, body string }{
	{was, `'hold'`, `local h = tonumber(v[1] or L); h = math.min(0.2 * d + 0.8 * h, L)
		redis.call('HSET', K, 'hold', string.format('%.3f', h))`},
	{"chosen", `'hold', 'spread', 'holds'`,
		`local h, s, n = tonumber(v[1] or L), tonumber(v[2] or 0), tonumber(v[3] or 0)
		n = math.min(n + 1, 9)
		local a, off = 1 / (n + 1), math.min(d, L) - h
		h, s = h + a * off, math.sqrt((1 - a) * (s * s + a * off * off))
		redis.call('HSET', K, 'hold', string.format('%.3f', h), 'spread', string.format('%.3f', s), 'holds', n)`},
	{"median of 20", `'lasts'`, list(20)},
	{"median of 50", `'lasts'`, list(50)},
}

// list returns Lua that keeps the last n values as text, newest first, and sorts them.
func list(n int) string {
	return fmt.Sprintf(`local t = { math.floor(d) }
		for x in (v[1] or ''):gmatch('%%d+') do if #t < %d then t[#t + 1] = tonumber(x) end end
		redis.call('HSET', K, 'lasts', table.concat(t, ','))
		table.sort(t)`, n)
}

// BenchmarkState prints what a rule adds to the end of a lease, and to a room's state.
func BenchmarkState(b *testing.B) {
	rdb := redistest.Start(b).Client()
	for _, rule := range rules {
		b.Run(strings.ReplaceAll(rule.name, " ", "-"), func(b *testing.B) {
			script := redis.NewScript(`local K, L = KEYS[1], 120000
				for i = 1, 100 do
					local d = (i * 7919) % 120000
					local v = redis.call('HMGET', K, ` + rule.fields + `)
					` + rule.body + `
				end`)
			require.NoError(b, rdb.Del(b.Context(), "state").Err())
			require.NoError(b, rdb.HSet(b.Context(), "state", "epoch", 1, "version", 2, "tickets", 3).Err())
			before := rdb.MemoryUsage(b.Context(), "state").Val()
			for b.Loop() {
				require.ErrorIs(b, script.Run(b.Context(), rdb, []string{"state"}).Err(), redis.Nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/lease")
			b.ReportMetric(float64(rdb.MemoryUsage(b.Context(), "state").Val()-before), "bytes/room")
		})
	}
}
