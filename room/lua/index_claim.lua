-- index_claim.lua: takes rooms that are due, so that of several replicas one looks at each.
-- KEYS   1 due  2 life (see index_register.lua)  3 clock: string, the time of the last claim (ms)  4 whole: string, the life that has all rooms
-- ARGV   1 how many at the most  2 hold each for (ms): due again then, should the claimer die  3 a name, should a life begin
-- Returns when the next room is due (ms from now; -1 = none is listed), the life's name, "1" = all rooms are in it (see Engine.rebuild),
-- then room, claim, room, claim …; the claim is the score to hand back.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function ms(n) return string.format('%.0f', n) end

-- Where the clock went back, a room that is due would be due later than it should.
local last = tonumber(redis.call('GET', KEYS[3]) or 0)
if now < last then
  for _, room in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ms(now), '(+inf')) do redis.call('ZADD', KEYS[1], ms(now), room) end
end
if now ~= last then redis.call('SET', KEYS[3], ms(now)) end

local life = redis.call('GET', KEYS[2])
if not life or not redis.call('ZSCORE', KEYS[1], '!') then
  life = ARGV[3] .. ' ' .. ms(now)
  redis.call('SET', KEYS[2], life)
  redis.call('ZADD', KEYS[1], '+inf', '!')
end
local claim = ms(now + ARGV[2])
local name = life:match('^%S+')
local out = { '-1', name, redis.call('GET', KEYS[4]) == name and '1' or '0' }
for _, room in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ms(now), 'LIMIT', 0, ARGV[1])) do
  redis.call('ZADD', KEYS[1], claim, room)
  out[#out + 1] = room
  out[#out + 1] = claim
end
local next = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if next[1] ~= '!' then out[1] = ms(math.max(next[2] - now, 0)) end
return out
