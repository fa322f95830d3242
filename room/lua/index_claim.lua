-- index_claim.lua: takes rooms that are due, so that of several replicas one looks at each.
-- KEYS   1 due
-- ARGV   1 how many at the most  2 hold each for (ms): due again then, should the claimer die
-- Returns when the next room is due (ms from now; -1 = none is listed), then room, claim, room, claim …;
-- the claim is the score to hand back.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local claim = string.format('%.0f', now + ARGV[2])
local out = { '-1' }
for _, room in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])) do
  redis.call('ZADD', KEYS[1], claim, room)
  out[#out + 1] = room
  out[#out + 1] = claim
end
local next = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if next[2] then out[1] = string.format('%.0f', math.max(next[2] - now, 0)) end
return out
