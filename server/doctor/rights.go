package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// tried calls in one script what the engine's scripts call, and returns what the user may not call. It passes
// over other errors. KEYS: a string, a hash, a sorted set, a set and a stream, all of one slot. ARGV: a
// channel.
var tried = redis.NewScript(`
local refused = {}
local function try(...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err then
    local why = string.lower(answer.err)
    if string.find(why, 'noperm', 1, true) or string.find(why, 'permission', 1, true)
      or string.find(why, 'executing the script', 1, true) then
      refused[#refused + 1] = (...)
    end
  end
end
local s, h, z, set, x = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
try('TIME') try('INFO', 'server') try('SET', s, '1', 'PX', 5000) try('GET', s) try('EXISTS', s) try('PTTL', s)
try('PERSIST', s) try('PEXPIRE', s, 5000)
try('HSET', h, 'a', '1') try('HSETNX', h, 'a', '1') try('HGET', h, 'a') try('HMGET', h, 'a') try('HGETALL', h)
try('HKEYS', h) try('HLEN', h) try('HEXISTS', h, 'a') try('HDEL', h, 'a')
try('ZADD', z, 1, 'a') try('ZCARD', z) try('ZCOUNT', z, 0, 1) try('ZSCORE', z, 'a') try('ZMSCORE', z, 'a')
try('ZRANK', z, 'a') try('ZRANGE', z, 0, -1) try('ZRANGEBYSCORE', z, 0, 1)
try('ZREVRANGE', z, 0, -1) try('ZREVRANGEBYSCORE', z, 1, 0) try('ZREMRANGEBYSCORE', z, 5, 6)
try('ZREMRANGEBYRANK', z, 5, 6) try('ZREM', z, 'a')
try('SADD', set, 'a') try('SCARD', set) try('SREM', set, 'a') try('SPOP', set)
try('XADD', x, '*', 'a', '1') try('XLEN', x)
try('PUBLISH', ARGV[1], '')
try('DEL', s, h, z, set, x)
return refused`)

// rights tries the user's permissions, for each kind of keys and channels in use.
func (d *doctor) rights(ctx context.Context, c redis.UniversalClient) {
	ids := d.Rooms.Names()
	if len(ids) == 0 {
		ids = []room.ID{"doctor"}
	}
	names := room.NamesOf(c, d.RedisPrefix)
	tags := map[string]string{"{waitroom}": "{waitroom}:replicas",
		"{waitroom-support}":      "{waitroom}:signed-out",
		"{waitroom-limit:doctor}": "{waitroom}:replicas", "{waitroom-seller}": "{waitroom}:replicas",
		"{waitroom-link}": "{waitroom}:joined-device", "{waitroom-push}": "{waitroom}:replicas",
		"{waitroom-reach}": "{waitroom}:replicas"}
	for _, id := range ids {
		tags["{"+string(id)+"}"] = "{" + string(id) + "}:events"
	}
	var refused []string
	for tag, channel := range tags {
		refused = append(refused, mayNot(ctx, c, names.Key(tag), names.Channel(channel))...)
	}
	slices.Sort(refused)
	if refused = slices.Compact(refused); len(refused) > 0 {
		d.wrong("redis", "ACL SETUSER the user so: ~"+d.RedisPrefix+"{*}:* &"+d.RedisPrefix+
			"{*}:* &__keyspace@*:* "+
			"+@all -@admin -@dangerous +info +config|get +config|set (or ~* &* +@all).",
			"The user may not: %s.", strings.Join(refused, ", "))
	}
}

// mayNot returns the commands that the user may not call on keys that begin with tag, or on the channel.
func mayNot(ctx context.Context, c redis.UniversalClient, tag, channel string) (refused []string) {
	keys := make([]string, 5)
	for i, kind := range []string{"string", "hash", "sorted", "set", "stream"} {
		keys[i] = tag + ":doctor:" + kind
	}
	commands, err := tried.Run(ctx, c, keys, channel).StringSlice()
	if forbidden(err) {
		return []string{"scripts with keys " + tag + ":*"}
	}
	refused = append(refused, commands...)
	if forbidden(c.XRangeN(ctx, keys[4], "-", "+", 1).Err()) {
		refused = append(refused, "XRANGE")
	}
	if forbidden(c.XDel(ctx, keys[4], "1-1").Err()) {
		refused = append(refused, "XDEL")
	}
	subscription := c.Subscribe(ctx, channel)
	defer func() { _ = subscription.Close() }()
	if _, err := subscription.ReceiveTimeout(ctx, time.Second); forbidden(err) {
		refused = append(refused, "SUBSCRIBE "+channel)
	}
	return refused
}

func forbidden(err error) bool {
	refusal, ok := errors.AsType[redis.Error](err)
	return ok && strings.Contains(refusal.Error(), "NOPERM")
}
