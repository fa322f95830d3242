-- room.lua: counts a room of a prefix in use, unless too many are.
-- KEYS   1 rooms  zset  room -> when it was last joined (ms)
-- ARGV   1 room  2 how long a room counts after that (ms)  3 most rooms
-- Returns {wait (ms)} where the room would be one too many, else {0, mark}: undo.lua takes the mark of a room
-- that was not counted before, and of others it is "".

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function ms(n) return string.format('%.0f', n) end
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not known and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ms(now - ARGV[2]))
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
    local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
    return { ms(math.max(oldest[2] + ARGV[2] - now, 1)) }
  end
end
redis.call('ZADD', KEYS[1], ms(now), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { '0', known and '' or ms(now) }
