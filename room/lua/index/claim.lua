-- index/claim.lua: claims rooms that are due, so that only one of several replicas looks at each.
-- KEYS   1 due  2 generation (see index/register.lua)  3 clock: string, the time of the last claim (ms)
--        4 whole: string, the generation that has every room
--        5 alive, 6 dead, 7 outage (see index/heartbeat.lua)
-- ARGV   1 how many rooms at most
--        2 a claim's length (ms): the room is due again after it, should the claiming replica die
--        3 a name for a new generation
--        4 a replica without a heartbeat for so long (ms) is dead
-- Returns a list: when the next room is due (ms from now; -1 = no room is listed), the generation's name, "1"
-- = every room is in it (see Engine.rebuild), how many members `due` has (the rooms, and "!"), the replicas
-- (see replicas below), then room, claim, room, claim … The replica returns a claim by index/reschedule.lua.

-- How long the last heartbeat of a dead replica is kept (ms). Sessions that are taken out of a room later
-- count as connected until they are taken out.
local DEAD_KEPT = 60 * 60 * 1000

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function ms(n) return string.format('%.0f', n) end

-- If the clock went back, rooms would be due later than they should.
local last = tonumber(redis.call('GET', KEYS[3]) or 0)
if now < last then
  for _, room in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ms(now), '(+inf')) do
    redis.call('ZADD', KEYS[1], ms(now), room)
  end
  for _, replica in ipairs(redis.call('ZRANGEBYSCORE', KEYS[5], '(' .. ms(now), '+inf')) do
    redis.call('ZADD', KEYS[5], ms(now), replica)
  end
end
if now ~= last then redis.call('SET', KEYS[3], ms(now)) end

local generation = redis.call('GET', KEYS[2])
if not generation or not redis.call('ZSCORE', KEYS[1], '!') then
  generation = ARGV[3] .. ' ' .. ms(now)
  redis.call('SET', KEYS[2], generation)
  redis.call('ZADD', KEYS[1], '+inf', '!')
end
local claim = ms(now + ARGV[2])
local name = generation:match('^%S+')

-- replicas returns the live and the dead replicas:
--   "now(µs) outage(ms) replica,replica,… replica:last heartbeat(ms ago),…"
-- If no replica had a heartbeat lately, Redis was away, or all replicas were. Then no replica is taken for
-- dead.
local function replicas()
  local outage = math.max(redis.call('PTTL', KEYS[7]), 0)
  local latest = redis.call('ZRANGE', KEYS[5], -1, -1, 'WITHSCORES')
  if outage == 0 and latest[2] and tonumber(latest[2]) >= now - ARGV[4] then
    local silent = redis.call('ZRANGEBYSCORE', KEYS[5], '-inf', '(' .. ms(now - ARGV[4]), 'WITHSCORES')
    for i = 1, #silent, 2 do
      redis.call('ZREM', KEYS[5], silent[i])
      redis.call('ZADD', KEYS[6], silent[i + 1], silent[i])
    end
  end
  redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', ms(now - DEAD_KEPT))
  local dead, list = {}, redis.call('ZRANGE', KEYS[6], 0, -1, 'WITHSCORES')
  for i = 1, #list, 2 do dead[#dead + 1] = list[i] .. ':' .. ms(math.max(now - list[i + 1], 0)) end
  local alive = table.concat(redis.call('ZRANGE', KEYS[5], 0, -1), ',')
  return string.format('%.0f %d %s %s', clock[1] * 1000000 + clock[2], outage, alive, table.concat(dead, ','))
end

local whole = redis.call('GET', KEYS[4]) == name and '1' or '0'
local out = { '-1', name, whole, ms(redis.call('ZCARD', KEYS[1])), replicas() }
for _, room in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ms(now), 'LIMIT', 0, ARGV[1])) do
  redis.call('ZADD', KEYS[1], claim, room)
  out[#out + 1] = room
  out[#out + 1] = claim
end
local next = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if next[1] ~= '!' then out[1] = ms(math.max(next[2] - now, 0)) end
return out
