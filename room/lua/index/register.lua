-- index/register.lua: registers a room that is about to be used. It runs before the room's own script, so
-- that a room with a live place is in the index whatever dies in between.
-- KEYS   1 due         zset    room -> look at it then (ms); and "!", which is no room: if it is missing,
--                              rooms may be missing too
--        2 registered  zset    room -> when a process last registered it (ms)
--        3 life        string  "name began(ms)" of the index's generation; a new one if Redis lost it
--        4 history     string  "id since(ms)" of the server's history (see lineage.lua); a new one if
--                              it may have lost its last writes, and a room with them
-- ARGV   1 room  2 a name for a new generation
-- Returns a list: the time (ms), when the generation began (ms), when the room was registered before (ms; -1
-- = it was not), the generation's name, and since when the server has another history than before (ms; -1 =
-- none other is known).

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function ms(n) return string.format('%.0f', n) end

if redis.call('EXISTS', KEYS[3]) == 0 or not redis.call('ZSCORE', KEYS[1], '!') then
  redis.call('SET', KEYS[3], ARGV[2] .. ' ' .. ms(now))
  redis.call('ZADD', KEYS[1], '+inf', '!')
end
local generation, began = redis.call('GET', KEYS[3]):match('^(%S+) (%d+)')
local before = redis.call('ZSCORE', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[1], ms(now), ARGV[1])
redis.call('ZADD', KEYS[2], ms(now), ARGV[1])

local info, since = redis.pcall('INFO', 'replication'), '-1'
local id = type(info) == 'string' and info:match('master_replid:(%x%x%x%x%x%x%x%x%x%x%x%x)')
if id then
  local known, at = (redis.call('GET', KEYS[4]) or ''):match('^(%x+) (%-?%d+)$')
  if known ~= id or at + 0 > now then -- another history, or the clock went back
    at = known and ms(now) or '-1'
    redis.call('SET', KEYS[4], id .. ' ' .. at)
  end
  since = at
end
return { ms(now), began, before or '-1', generation, since }
